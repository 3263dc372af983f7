"""Plots of runs: a metric against rounds and against virtual time."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from driftfold.arrays import Floats
from driftfold.telemetry.base import Record
from driftfold_api.errors import RequestError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Arm: TypeAlias = Sequence[Record] | Sequence[Sequence[Record]]
"""The records of one run, or of several runs that differ in their seed."""

# Okabe and Ito (2008), readable with every common form of colour blindness; black last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
_POINTS = 400


def plot_runs(named_records: Mapping[str, Arm], path: Path, metric: str | None = None) -> Path:
    """Draw a metric of several arms, and return the path of the picture.

    Several runs of one arm are shown as their median and the range between their lower and upper
    quartile. The scale is logarithmic where all values allow it.

    Parameters
    ----------
    named_records
        Records of each arm, by the name that the legend shows.
    path
        File to write; ``.png``, ``.svg`` or ``.pdf``.
    metric
        Name of a value of the evaluations; None takes "gap", or "loss" where an arm has no gap.

    Raises
    ------
    RequestError
        An arm has no evaluation with that metric, or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> def run(rate):
    ...     return [Record(t + 1, "evaluation", 2.0 * t, t, {"gap": rate**t}) for t in range(9)]
    >>> out = Path(tempfile.mkdtemp()) / "gaps.svg"
    >>> plot_runs({"slow": run(0.9), "fast": [run(0.5), run(0.6)]}, out) == out
    True
    """
    runs = {name: _runs(arm) for name, arm in named_records.items()}
    if not any(runs.values()):
        raise RequestError("there is no run to draw; name at least one")
    chosen = metric or _default_metric(runs)
    curves = {name: [_curve(name, run, chosen) for run in arm] for name, arm in runs.items()}
    return _draw(curves, Path(path), chosen)


def band(xs: Sequence[Floats], ys: Sequence[Floats]) -> tuple[Floats, Floats, Floats, Floats]:
    """Median and quartiles of curves on the interval that all of them cover.

    Curves that share their x (rounds) are taken as they are; others (virtual times) are read off
    at common points, linearly between evaluations.

    >>> x = np.array([0.0, 1.0])
    >>> [part.tolist() for part in band([x, x, x], [x, 2 * x, 4 * x])]
    [[0.0, 1.0], [0.0, 2.0], [0.0, 1.5], [0.0, 3.0]]
    """
    if all(np.array_equal(x, xs[0]) for x in xs):
        grid, rows = xs[0], np.stack(ys)
    else:
        grid = np.linspace(max(x[0] for x in xs), min(x[-1] for x in xs), _POINTS)
        rows = np.stack([np.interp(grid, x, y) for x, y in zip(xs, ys, strict=True)])
    low, middle, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
    return grid, middle, low, high


def _runs(arm: Arm) -> list[Sequence[Record]]:
    one = [record for record in arm if isinstance(record, Record)]
    return [one] if one else [run for run in arm if not isinstance(run, Record)]


def _default_metric(runs: Mapping[str, list[Sequence[Record]]]) -> str:
    has = [
        any("gap" in r.values for r in run if r.kind == "evaluation")
        for arm in runs.values()
        for run in arm
    ]
    return "gap" if all(has) else "loss"


def _curve(name: str, run: Sequence[Record], metric: str) -> tuple[Floats, Floats, Floats]:
    """Return rounds, virtual times and values of one run's evaluations."""
    told = [r for r in run if r.kind == "evaluation"]
    points = [(r.version, r.time, r.values[metric]) for r in told if metric in r.values]
    if not points:
        known = sorted({key for r in told for key in r.values})
        raise RequestError(
            f"{name}: no evaluation tells {metric!r}; choose one of: {', '.join(known) or 'none'}"
        )
    rounds, times, values = np.array(points, dtype=np.float64).T
    return rounds, times, values


def _draw(
    curves: Mapping[str, list[tuple[Floats, Floats, Floats]]], path: Path, metric: str
) -> Path:
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)  # no window system, whatever matplotlib is set to
    panels: tuple[Any, Any] = figure.subplots(1, 2, sharey=True)
    values = np.concatenate([y for arm in curves.values() for _, _, y in arm])
    logarithmic = bool((values[np.isfinite(values)] > 0).all())
    for panel, column, label in zip(panels, (0, 1), ("rounds", "virtual time (s)"), strict=True):
        for (name, arm), look in zip(curves.items(), _looks(), strict=False):
            _line(panel, name, [(run[column], run[2]) for run in arm], look)
        panel.set_xlabel(label)
        panel.grid(alpha=0.3)
        panel.set_yscale("log" if logarithmic else "linear")
    if not any(run[1].any() for arm in curves.values() for run in arm):
        panels[1].text(
            0.5, 0.5, "no virtual time passed", transform=panels[1].transAxes, ha="center"
        )
    panels[0].set_ylabel("optimality gap" if metric == "gap" else metric)
    several = any(len(arm) > 1 for arm in curves.values())
    panels[0].legend(title="median and quartiles of seeds" if several else None)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context({"svg.hashsalt": "driftfold"}):
            figure.savefig(path, dpi=150, metadata=_undated(path))
    except (OSError, ValueError) as error:
        raise RequestError(f"cannot write the plot {path}: {error}; choose another file") from None
    return path


def _line(
    panel: "Axes", name: str, runs: Sequence[tuple[Floats, Floats]], look: tuple[str, str]
) -> None:
    colour, style = look
    if len(runs) == 1:
        panel.plot(*runs[0], color=colour, linestyle=style, label=name)
        return
    grid, middle, low, high = band([x for x, _ in runs], [y for _, y in runs])
    panel.plot(grid, middle, color=colour, linestyle=style, label=f"{name} ({len(runs)} seeds)")
    panel.fill_between(grid, low, high, color=colour, alpha=0.2, linewidth=0)


def _looks() -> Any:
    return zip(cycle(COLOURS), cycle(style for style in STYLES for _ in COLOURS), strict=False)


def _undated(path: Path) -> dict[str, Any]:
    """Leave the date out, so that one set of records gives one file."""
    key = {".svg": "Date", ".pdf": "CreationDate"}.get(path.suffix.lower())
    return {key: None} if key else {}
