"""The pictures of the site: python docs/pictures.py [FOLDER].

Each is computed: exact densities, the planner's figures, cached measurements.  Grey text suits light and dark pages.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from tailproof import PureDP
from tailproof.verification.auditing.planner import plan

ROOT = Path(__file__).resolve().parent.parent
INK, BLUE, RED = "#7d8590", "#2f81f7", "#e5534b"
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tailproof",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "savefig.transparent": True,
}


def laplace(at: np.ndarray, location: float, scale: float) -> np.ndarray:
    return np.exp(-np.abs(at - location) / scale) / (2 * scale)


def two_sides(axes: Axes, at: np.ndarray, second: float, scale: float, title: str) -> None:
    for location, colour, name in ((0.0, BLUE, "A"), (second, RED, "B")):
        density = laplace(at, location, scale)
        axes.fill_between(at, density, color=colour, alpha=0.25, linewidth=0)
        axes.plot(at, density, color=colour, label=name)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("output")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def outputs() -> Figure:
    """A noisy mean of ten records, clipped and not: A is all zeros, in B one record is 1 or 100."""
    figure = Figure(figsize=(6.4, 2.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    two_sides(left, np.linspace(-0.6, 0.9, 151), 0.1, 0.1, "clipped: hard to tell apart")
    two_sides(right, np.linspace(-1, 11, 601), 10.0, 0.1, "not clipped: easy to tell apart")
    left.set_xticks([-0.5, 0, 0.5])
    left.legend(loc="upper right")
    right.legend(loc="upper center")
    return figure


def guess() -> Figure:
    """The guess by the output, for Laplace noise and ε = 1."""
    figure = Figure(figsize=(6.4, 2.4), layout="constrained")
    axes = figure.subplots()
    at = np.linspace(-4, 5, 181)
    two_sides(axes, at, 1.0, 1.0, "")
    for threshold in (0.0, 1.0):
        axes.axvline(threshold, color=INK, linestyle=":", linewidth=1)
    for place, word in ((-2.2, "guess A"), (0.5, "pass"), (3.2, "guess B")):
        axes.text(place, 0.44, word, ha="center")
    axes.legend(loc="center right")
    return figure


def planned() -> Figure:
    """What the planner says for a claim of ε = 1."""
    figure = Figure(figsize=(6.4, 3), layout="constrained")
    axes = figure.subplots()
    truths = [1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0]
    runs = [plan(PureDP(1.0), PureDP(epsilon), confidence=0.999, power=0.9).samples for epsilon in truths]
    axes.loglog([epsilon - 1 for epsilon in truths], runs, "o-", color=BLUE)
    for epsilon, count in zip(truths, runs, strict=True):
        axes.annotate(f"{count:,}".replace(",", " "), (epsilon - 1, count), textcoords="offset points", xytext=(6, 4))
    axes.set_xticks([epsilon - 1 for epsilon in truths], [f"{epsilon:g}" for epsilon in truths])
    axes.minorticks_off()
    axes.set_xlabel("true ε, where ε = 1 is claimed")
    axes.set_ylabel("runs")
    return figure


def sweep() -> Figure:
    """P2's Theorem 2 as `benchmarks/sweeps.py` measured it."""
    lines = (ROOT / "benchmarks" / "sweeps.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    found = next(row["result"] for row in rows if row["name"] == "P2.T2/P2.A2/means/theory" and row["over"] == "n")
    figure = Figure(figsize=(6.4, 3), layout="constrained")
    axes = figure.subplots()
    at = [point["at"] for point in found["points"]]
    measured = np.array([point["measured"] for point in found["points"]])
    limits = np.array([point["interval"] for point in found["points"]]).T
    bound = np.array([point["bound"] for point in found["points"]])
    slope, low, high = found["slope"]
    spread = np.maximum([measured - limits[0], limits[1] - measured], 0)
    axes.errorbar(at, measured, spread, fmt="o", color=BLUE, label=f"measured, slope {slope:.2f} [{low:.2f}, {high:.2f}]")
    axes.plot(at, bound, color=INK, linestyle="--", label=f"the theorem's rate, slope {found['bound_slope']:.2f}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("records n")
    axes.set_ylabel("error")
    axes.legend()
    return figure


def along_epsilon() -> Figure:
    """Objective perturbation, as `benchmarks/objective_epsilon.py` measured it: means with 95 % intervals, and the minimiser's."""
    cached = json.loads((ROOT / "benchmarks" / "objective_epsilon.json").read_text(encoding="utf-8"))
    figure = Figure(figsize=(6.4, 5.2), layout="constrained")
    for axes, law in zip(
        figure.subplots(2, 2, sharex=True).flat, ("absolute", "logistic", "squared", "asymmetric"), strict=True
    ):
        for preset, colour in (("theory", RED), ("tuned", BLUE)):
            if not (samples := list(cached.get(f"{law}, {preset}", {}).values())):
                continue
            at = [float(name) for name in samples[0] if name != "none"]
            errors = np.array([[sample[name] for name in sample if name != "none"] for sample in samples])
            spread = 1.96 * errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
            axes.errorbar(at, errors.mean(axis=0), spread, color=colour, marker=".", label=preset)
            without = float(np.mean([sample["none"] for sample in samples]))
        axes.axhline(without, color=INK, linestyle="--", label="without privacy")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(law, fontsize=10)
        axes.set_xlabel("ε")
        axes.set_ylabel("excess risk")
    figure.axes[0].legend(fontsize=8)
    return figure


def channel() -> Figure:
    """How a run and its replay are compared."""
    figure = Figure(figsize=(6.4, 2.4), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(0, 16), ylim=(0, 5))
    axes.axis("off")
    boxes = {"data A": (0.2, 3.5), "algorithm ": (4.2, 3.5), "neighbour B": (0.2, 0.5), "algorithm": (4.2, 0.5)}
    boxes |= {"laws on A,\nvalues drawn": (8.4, 3.5), "laws on B,\nsame values": (8.4, 0.5), "checks": (13, 2)}
    for word, (x, y) in boxes.items():
        axes.add_patch(FancyBboxPatch((x, y), 2.8, 1, boxstyle="round,pad=0.1", facecolor="none", edgecolor=INK))
        axes.text(x + 1.4, y + 0.5, word.strip(), ha="center", va="center", fontsize=9)
    arrows = [((3.1, 4), (4.1, 4)), ((7.1, 4), (8.3, 4)), ((3.1, 1), (4.1, 1)), ((7.1, 1), (8.3, 1))]
    arrows += [((11.3, 4), (13.2, 3.15)), ((11.3, 1), (13.2, 1.85))]
    for start, end in arrows:
        axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=10, color=INK))
    axes.add_patch(
        FancyArrowPatch((9.8, 3.35), (9.8, 1.65), arrowstyle="-|>", mutation_scale=10, color=BLUE, linestyle="--")
    )
    axes.text(10, 2.5, "replay", color=BLUE, va="center", fontsize=9)
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "outputs": outputs,
    "guess": guess,
    "plan": planned,
    "sweep": sweep,
    "epsilon": along_epsilon,
    "channel": channel,
}


def drawn() -> dict[str, str]:
    """name: SVG of every picture."""
    found = {}
    for name, picture in PICTURES.items():
        with mpl.rc_context(STYLE):
            file = io.StringIO()
            picture().savefig(file, format="svg", metadata={"Date": None})
        found[name] = file.getvalue()
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in drawn().items():
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")
