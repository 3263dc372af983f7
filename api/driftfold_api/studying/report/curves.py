"""Curves of an experiment as SVG that takes its colours from the page, light or dark."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from driftfold.arrays import Floats
from driftfold.studies.base import Experiment
from driftfold.studies.values import Series, Values
from driftfold_api.plots import STYLES, band

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = 7
"""Colours of curves that the page's style has; further arms get another stroke."""

# Stand-ins, written by matplotlib and replaced by the page's variables.
INK, _LINE = "#010203", "#040506"
_STAND_INS = tuple(f"#0a0b{16 + i:02x}" for i in range(COLOURS))
COLOUR = _STAND_INS[0]
"""Stand-in for the colour of a figure that has one."""

_POINTS = 240
_SIZE = (6.0, 3.7)  # inches


def look(number: int) -> tuple[int, str]:
    """Return the colour and the stroke of an arm."""
    stroke = 2 * (number // COLOURS) + number % 2  # neighbours may lie on one another
    return number % COLOURS, STYLES[stroke % len(STYLES)]


def draw(experiment: Experiment, values: Values) -> str:
    """Return an svg element: medians and quartiles of seeds, published values as rings."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with in_page_style(experiment.name):
        figure = Figure(figsize=_SIZE, layout="constrained")
        FigureCanvasSVG(figure)
        panel: Axes = figure.subplots()
        _curves(panel, experiment, values)
        written = StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return for_the_page(written.getvalue(), f"{experiment.metric} against rounds")


def _curves(panel: "Axes", experiment: Experiment, values: Values) -> None:
    metric, positive = experiment.metric, True
    for number, arm in enumerate(experiment.curves):
        colour, stroke = look(number)
        runs = [run for run in values.runs(experiment.name, arm.name) if metric in run.values]
        if runs:
            xs, ys = zip(*(_thinned(run, metric) for run in runs), strict=True)
            grid, middle, low, high = band(xs, ys)
            panel.plot(grid, middle, color=_STAND_INS[colour], linestyle=stroke, linewidth=1.6)
            if len(runs) > 1:
                panel.fill_between(
                    grid, low, high, color=_STAND_INS[colour], alpha=0.2, linewidth=0
                )
            positive = positive and all(bool((y > 0).all()) for y in ys)
        end = max((int(run.rounds[-1]) for run in runs), default=0)
        rings = [
            (row.round, row.value)
            for row in experiment.published
            if row.arm == arm.name and row.metric in ("", metric) and row.round <= end
        ]
        if rings:
            panel.plot(
                *np.array(rings).T,
                linestyle="",
                marker="o",
                markersize=6,
                markerfacecolor="none",
                markeredgecolor=_STAND_INS[colour],
                markeredgewidth=1.4,
            )
    panel.set_yscale("log" if positive and experiment.scale == "log" else "linear")
    panel.set_xlabel("rounds")
    panel.grid(alpha=0.6, linewidth=0.6)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def _thinned(run: Series, metric: str) -> tuple[Floats, Floats]:
    """Return at most a few hundred points, the last one among them."""
    chosen = np.unique(np.linspace(0, len(run.rounds) - 1, _POINTS).round().astype(int))
    return run.rounds[chosen].astype(np.float64), run.values[metric][chosen]


@contextmanager
def in_page_style(salt: str) -> Iterator[None]:
    """Draw with the stand-ins that `for_the_page` replaces; `salt` makes ids the figure's own."""
    import matplotlib as mpl

    style: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.size": 11,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": _LINE,
        "xtick.color": INK,
        "ytick.color": INK,
        "grid.color": _LINE,
    }
    with mpl.rc_context(style):
        yield


def for_the_page(svg: str, title: str) -> str:
    """Return a written figure as an element that takes its colours from the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    # Ids of groups are the same in every figure; those of marks and clips are hashes.
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    svg = re.sub(r'( width| height)="[\d.]+pt"', "", svg, count=2)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px system-ui, sans-serif", svg)
    for stand_in, name in _names():
        svg = svg.replace(stand_in, f"var(--{name})")
    svg = re.sub(r"\n\s*", "\n", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1).strip()


def _names() -> Sequence[tuple[str, str]]:
    curves = [(colour, f"curve-{number}") for number, colour in enumerate(_STAND_INS)]
    return [(INK, "ink"), (_LINE, "line"), *curves]
