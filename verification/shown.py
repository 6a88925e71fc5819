"""Readable text for a terminal or a pipe: lines and tables.

On a terminal everything is wrapped to its width, tables in their cells, and a table that cannot be that narrow becomes one block a
row.  Into a pipe or a file nothing is wrapped.  rich is imported when something is shown, not before.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Rows: TypeAlias = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Table:
    rows: Rows
    header: Sequence[str]
    indent: int = 0


Shown: TypeAlias = str | Table | Sequence["Shown"]

SIGNS = {"✕": "red", "○": "blue", "✓": "green", "?": "yellow"}
WORDS = {
    "✕": "violated|refuted|separated|FAILED|still violates|survived|not dominated",
    "○": "consistent",
    "✓": "certified|dominated|killed|does not violate",
    "?": "inconclusive|undecided|skipped",
}
_LEAST = 20
"""A column is at least as wide as its longest word, or this."""


def render(shown: Shown, *, width: int | None = None, colour: bool = False) -> str:
    """`width`: of the terminal, or None for no wrapping."""
    from rich.console import Console

    out = io.StringIO()
    console = Console(
        file=out,
        width=width or 1_000_000,
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    _put(console, shown, width)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _put(console: Console, shown: Shown, width: int | None) -> None:
    if isinstance(shown, str):
        for line in shown.splitlines() or [""]:
            _line(console, line, width)
    elif isinstance(shown, Table):
        _table(console, shown, width)
    else:
        for part in shown:
            _put(console, part, width)


# --- lines ----------------------------------------------------------------------------------------------------------------


def _line(console: Console, line: str, width: int | None) -> None:
    """Wrapped, with what follows a label under its text: `label  text`."""
    text = _styled(line, signed=width is not None)
    if width is None or text.cell_len <= width:
        console.print(text, soft_wrap=True)
        return
    label = re.match(r"\s*(?:\S+(?: \S+){0,2}(?::|\s)\s+|[-•] )?", text.plain)
    hang = len(label[0]) if label is not None and len(label[0]) <= width // 3 and label[0].endswith("  ") else 0
    hang = hang or min(len(text.plain) - len(text.plain.lstrip()) + 2, width // 3)
    first, *rest = text.wrap(console, width, overflow="fold")
    console.print(first, soft_wrap=True)
    if rest:
        left = text[len(first.plain) :]
        left = left[len(left.plain) - len(left.plain.lstrip()) :]
        for part in left.wrap(console, width - hang, overflow="fold"):
            console.print(" " * hang, part, sep="", soft_wrap=True)


def _styled(line: str, *, signed: bool = False) -> Text:
    """With colours for verdicts at the beginning, and their signs where they stand on a terminal."""
    from rich.text import Text

    for sign, words in WORDS.items():
        found = re.match(rf"(?:{re.escape(sign)} )?({words})\b", line)
        if found is not None:
            given = line if line.startswith(sign) or not signed else f"{sign} {line}"
            text = Text(given)
            text.stylize(f"bold {SIGNS[sign]}", 0, found.end() + len(given) - len(line))
            return text
    return Text(line)


# --- tables ---------------------------------------------------------------------------------------------------------------


def _table(console: Console, shown: Table, width: int | None) -> None:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table as Grid

    if width is not None and _narrowest(shown) > width:
        _blocks(console, shown, width)
        return
    plain = width is None
    grid = Grid(
        box=None if plain else box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2 if plain else 1, 0, 0)
    )
    for number, name in enumerate(shown.header):
        words = [word for row in [shown.header, *shown.rows] for word in row[number].split()]
        least = max((len(word) for word in words), default=1)
        keep = number == 0 or all(len(row[number]) <= _LEAST for row in shown.rows)
        grid.add_column(name, overflow="fold", min_width=least if keep or least <= _LEAST else _LEAST)
    if plain:
        widths = [max(len(row[column]) for row in [shown.header, *shown.rows]) for column in range(len(shown.header))]
        grid.add_row(*("-" * wide for wide in widths))
    for row in shown.rows:
        grid.add_row(*(_styled(cell, signed=False) for cell in row))
    console.print(Padding(grid, (0, 0, 0, shown.indent)), soft_wrap=False)


def _narrowest(shown: Table) -> int:
    """How wide the table is at least: no number and no word of ordinary length is torn apart."""
    total = shown.indent - 2
    for column in range(len(shown.header)):
        words = [word for row in [shown.header, *shown.rows] for word in row[column].split()]
        longest = max((len(word) for word in words), default=1)
        total += 2 + (longest if column == 0 else min(longest, _LEAST))
    return total


def _blocks(console: Console, shown: Table, width: int) -> None:
    """A row as lines `name  cell`."""
    wide = max(map(len, shown.header))
    for number, row in enumerate(shown.rows):
        if number:
            console.print()
        for name, cell in zip(shown.header, row, strict=True):
            _line(console, f"{' ' * shown.indent}{name:<{wide}}  {cell}", width)
