"""One page in one process: its cells run, and what they measured is written down."""
