"""Random edits of the algorithms: operators, the frame they are sampled from, and the judge."""
