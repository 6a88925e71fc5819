"""Exact checks of what goes through a channel: forced paths, every record, what is composed, state, and what the code reaches
for.
"""
