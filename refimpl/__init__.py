"""Reference implementations of differentially private algorithms for heavy-tailed data."""
