"""The statements of the five papers, and what is wrong in them."""
