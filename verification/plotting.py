"""One style for the pictures that commands write: the report's colours, few rules, plain numbers on the axes.

The same numbers give the same bytes.  Matplotlib is imported when something is drawn, for it takes half a second.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

INK, SOFT, RULE = "#1c2024", "#565d66", "#d5d9de"
ACCENT, BAD, ALLOWED = "#1d5fa6", "#b3261e", "#dbe8f5"
STYLE = {
    "svg.hashsalt": "tailproof",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "grid.color": RULE,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
}


def drawn(draw: Callable[[Any], None], size: tuple[float, float], form: str) -> bytes:
    """The file of a picture of this size in inches: `draw` gets its axes."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    with mpl.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=size, layout="constrained")
        draw(axes)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
        pyplot.close(figure)
    return buffer.getvalue()


def plain_log(axis: Any) -> None:
    """1, 2 and 5 in every decade, or the powers of ten alone where there are many; written 0.05 or 2000, not 5×10⁻²."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = axis.get_view_interval()
    wide = high / low > 300
    axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0), numticks=12))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def number(value: float) -> str:
    """10000 as 1e4, −0.6 with a minus sign."""
    shown = (
        f"{value:g}" if value == 0 or 1e-3 <= abs(value) < 1e4 else f"{value:.2g}".replace("e+0", "e").replace("e-0", "e-")
    )
    return shown.replace("-", "−")
