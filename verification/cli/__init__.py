"""The `tailproof` command: one file a command, imported when that command is chosen."""

from tailproof.verification.cli.entry import main, parser

__all__ = ["main", "parser"]
