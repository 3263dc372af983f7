"""An overview as dots with intervals, one panel for each experiment."""

from io import StringIO

import numpy as np

from driftfold.studies.overview import Overview
from driftfold.studies.values import Values
from driftfold_api.studying.report.curves import COLOUR, INK, for_the_page, in_page_style

_PANEL, _ROW, _HEAD = 1.9, 0.27, 1.0  # inches
_BESIDE = 3
"""Panels in one line."""


def draw_dots(overview: Overview, values: Values) -> str:
    """Return an svg element: means of the seeds with their intervals."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    entries = overview.entries(values)
    labels = [label for label, _ in overview.rows]
    lines = -(-len(overview.columns) // _BESIDE)
    beside = min(_BESIDE, len(overview.columns))
    with in_page_style(overview.title):
        size = (_PANEL * beside + 1.6, lines * (_ROW * len(labels) + _HEAD))
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        panels = figure.subplots(lines, beside, sharey=True, squeeze=False).ravel()
        for panel in panels[len(overview.columns) :]:
            panel.set_visible(False)
        for number, (column, _) in enumerate(overview.columns):
            panel, found = panels[number], [row[number] for row in entries]
            centres = np.array([np.nan if e is None else e.centre for e in found])
            ends = np.array(
                [[np.nan] * 2 if e is None or not e.known else [e.low, e.high] for e in found]
            )
            away = np.abs(ends.T - centres)
            places = np.arange(len(labels))
            panel.errorbar(
                centres, places, xerr=away, linestyle="", marker="o", markersize=4, color=COLOUR
            )
            known = centres[np.isfinite(centres)]
            positive = len(known) and known.min() > 0
            panel.set_xscale("log" if overview.scale == "log" and positive else "linear")
            if overview.against:
                panel.axvline(0.0, color=INK, linewidth=0.8)
            panel.set_title(column, fontsize=11)
            panel.set_yticks(places, labels)
            panel.grid(axis="x", alpha=0.6, linewidth=0.6)
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
        panels[0].invert_yaxis()
        written = StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return for_the_page(written.getvalue(), overview.title)
