"""One buffer in several libraries: what the page interop measures."""
