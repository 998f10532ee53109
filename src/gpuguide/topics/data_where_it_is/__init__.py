"""The study of the page data_where_it_is, and its random numbers."""
