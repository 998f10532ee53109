"""Results as charts: lines, dots and maps, in the guide's colours."""
