"""Pages from recordings: the seams with sphinx-gallery, states, drawn cells, typed outputs."""
