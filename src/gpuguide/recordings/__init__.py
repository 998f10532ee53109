"""The only reader and writer of recordings: strict reading, atomic writing, keys, staleness."""
