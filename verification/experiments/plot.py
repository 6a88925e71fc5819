"""The curves of an experiment, with their intervals."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from tailproof.refimpl.validation import InputError
from tailproof.verification import files
from tailproof.verification.experiments.methods import HINDSIGHT

AXES = {"n": "records n", "epsilon": "privacy budget ε", "d": "dimension d"}
SUFFIXES = (".png", ".svg", ".pdf")


def check_plot(path: str) -> None:
    """Before anything is run."""
    if Path(path).suffix not in SUFFIXES:
        raise InputError(f"plot = {path!r}: must end in one of {', '.join(SUFFIXES)}")


def draw(results: list[dict[str, Any]], path: str, *, title: str, metric: str) -> None:
    """A panel for each data set and sweep, a curve for each method; `results` as in the JSON document."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    panels = list(dict.fromkeys((row["data"], row["sweep"]) for row in results))
    names = list(dict.fromkeys(row["method"] for row in results))
    plain = [name for name in names if not name.endswith(HINDSIGHT)]
    sets = len({data for data, _ in panels})
    wide = len(panels) // sets
    with mpl.rc_context({"svg.hashsalt": "tailproof", "font.size": 8}):
        figure, grid = plt.subplots(sets, wide, figsize=(5.2 * wide, 3.6 * sets), squeeze=False, layout="constrained")
        for (data, sweep), axes in zip(panels, grid.flat, strict=True):
            here = [row for row in results if (row["data"], row["sweep"]) == (data, sweep) and "mean" in row]
            for name in names:
                rows = sorted((row for row in here if row["method"] == name), key=lambda row: row["at"])
                if rows:
                    _curve(axes, rows, name, f"C{plain.index(name.removesuffix(HINDSIGHT)) % 10}")
            fixed = f"n = {here[0]['n']}" if sweep != "n" else f"ε = {here[0]['epsilon']:g}"
            axes.set(title=f"{data}, {fixed}", xlabel=AXES[sweep], ylabel=f"test {metric}")
            axes.grid(alpha=0.3)
        curves = {name: curve for axes in grid.flat for curve, name in zip(*axes.get_legend_handles_labels(), strict=True)}
        figure.legend(curves.values(), curves.keys(), loc="outside lower center", ncols=5, fontsize=7)
        figure.suptitle(title)
        drawn = io.BytesIO()
        form = Path(path).suffix.lstrip(".") or "png"
        figure.savefig(drawn, format=form, dpi=130, metadata={"Date": None} if form == "svg" else None)
        plt.close(figure)
    files.write("plot", path, drawn.getvalue())


def _curve(axes: Any, rows: list[dict[str, Any]], name: str, colour: str) -> None:
    at, means = [row["at"] for row in rows], [row["mean"] for row in rows]
    low = [row["mean"] - row["interval"][0] for row in rows]
    high = [row["interval"][1] - row["mean"] for row in rows]
    style = "--" if not rows[0]["private"] else ":" if name.endswith(HINDSIGHT) else "-"
    axes.errorbar(
        at, means, yerr=[low, high], label=name, color=colour, linestyle=style, marker="o", markersize=3, capsize=2
    )
