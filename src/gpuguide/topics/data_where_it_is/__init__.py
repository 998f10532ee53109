"""Kernels and study of the page data_where_it_is."""
