"""Docstrings are prose with formulas: an extension of griffe that keeps Markdown from reading their * and _ as emphasis."""

from __future__ import annotations

import re
from typing import Any

import griffe

from tailproof.verification.atlas import prose


class PlainDocstrings(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Subscripts and superscripts as such, other signs as they stand; code, in backticks or indented after a blank line, stays."""
    lines, code, blank = [], False, True
    for line in text.splitlines():
        code = (line.startswith("    ") and (code or blank)) or (code and not line.strip())
        blank = not line.strip()
        lines.append(line if code else _outside_backticks(line))
    return "\n".join(lines)


def _outside_backticks(line: str) -> str:
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if i % 2 else re.sub(r"([*_])", r"\\\1", prose(part)) for i, part in enumerate(parts))
