"""The three tutorials as notebooks: python docs/notebooks.py FOLDER.

Prose stays prose.  A block `python` becomes a cell, a block `py` a cell that writes the file, a block `console` a cell that runs
its commands.  What a page shows as output is left out: the reader's own run prints it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

FOLDER = Path(__file__).resolve().parent
TUTORIALS = {"audit": "start/audit.md", "theorem": "referee/theorem.md", "regression": "use/regression.md"}
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.M | re.S)
CODE = ("python", "py", "console", "sh")


def notebook(page: str) -> nbformat.NotebookNode:
    """The page's text as cells, in its order."""
    cells, at = [], 0
    for found in FENCE.finditer(page):
        cells += _prose(page[at : found.start()])
        kind, title, body = found.groups()
        if kind in CODE:
            cells.append(new_code_cell(_code(kind, title, body)))
        at = found.end()
    cells += _prose(page[at:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same for the same page
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def _prose(text: str) -> list[nbformat.NotebookNode]:
    """Links lead to other pages of the site, which a notebook does not have: their words stay."""
    plain = re.sub(r"\[((?:[^\[\]]|\[\])+)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text).strip()
    plain = re.sub(r'^!!! \w+ "([^"]+)"$', r"**\1**", plain, flags=re.M)
    plain = re.sub(r"^ {4}(?=\S)", "", plain, flags=re.M)
    return [new_markdown_cell(plain)] if plain else []


def _code(kind: str, title: str | None, body: str) -> str:
    if kind == "py":
        return f"%%writefile {title}\n{body.rstrip()}"
    if kind == "console":
        lines = body.replace("\\\n", " ").splitlines()
        commands = [" ".join(line[2:].split()) for line in lines if line.startswith("$ ")]
        return "\n".join(f"!{command}" for command in commands if command != "echo $?")
    if kind == "sh":
        return "\n".join(f"!{line}" for line in body.splitlines())
    return body.rstrip()


def made() -> dict[str, str]:
    """name: JSON of every tutorial's notebook."""
    found = {}
    for name, path in TUTORIALS.items():
        book = notebook((FOLDER / path).read_text(encoding="utf-8"))
        nbformat.validate(book)
        found[name] = nbformat.writes(book)
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made().items():
        (folder / f"{name}.ipynb").write_text(text + "\n", encoding="utf-8")
