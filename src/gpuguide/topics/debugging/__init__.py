"""Broken programs of the page debugging, and what each tool says of them."""
