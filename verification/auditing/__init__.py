"""Black-box audits: what the outputs alone tell about a claim."""
