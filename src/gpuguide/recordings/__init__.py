"""The only reader and writer of recordings: strict in, atomic out, keys, staleness."""
