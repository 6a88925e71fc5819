"""The third answer to a question about rates, apart from yes and no."""


class Undecided(Exception):
    """Neither a certificate nor a path was found."""
