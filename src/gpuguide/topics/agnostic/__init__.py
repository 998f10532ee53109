"""The pipeline and the study of the page agnostic."""
