"""`driftfold study --list`: the studies, and the experiments of one."""

import typer

from driftfold.studies import get_study, studies
from driftfold.studies.cells import Form, chosen


def list_experiments(name: str | None, form: Form) -> None:
    """Print the studies, or a study's experiments with arms and seeds."""
    if name is None:
        for study in studies():
            typer.echo(f"{study.name}  {study.title}")
        return
    study = get_study(name)
    chosen(study, form)  # refuses names that are none
    width = max(len(experiment.name) for experiment in study.experiments)
    for experiment in study.experiments:
        seeds = form.seeds or len(experiment.seeds)
        arms = len(experiment.arms)
        runs = f"{arms} arm{'s' * (arms > 1)}, {seeds} seed{'s' * (seeds > 1)}"
        extras: list[str] = [experiment.tier] if experiment.tier == "full" else []
        extras += [f"needs {' and '.join(experiment.needs)}"] if experiment.needs else []
        extras += ["not in the small form"] if experiment.small is None else []
        line = "; ".join([runs, *extras])
        typer.echo(f"{experiment.name.ljust(width)}  {experiment.title} ({line})")
