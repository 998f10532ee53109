"""Studies of the page several_gpus."""
