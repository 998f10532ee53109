"""Studies of the page convolution."""
