"""The third answer to a question about rates, apart from yes and no."""


class Undecided(Exception):
    """Tailproof found neither a certificate nor a path along which the ratio grows."""
