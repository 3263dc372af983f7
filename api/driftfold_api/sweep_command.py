"""`driftfold sweep`: what can be typed."""

from typing import Annotated

import typer

from driftfold_api.options import Json, Plugins, Settings, Spec, Url


def sweep(
    spec: Spec,
    grid: Annotated[
        list[str],
        typer.Option(
            metavar="FIELD=VALUES",
            help="Values of a field, as algorithm.steps=1,5,10; may be repeated.",
        ),
    ] = [],  # noqa: B006 - typer reads the default and never changes it
    random: Annotated[
        list[str],
        typer.Option(
            metavar="FIELD=RANGE",
            help="In place of a grid: draw a field from 1..20, from 0.001..1,log or from values "
            "a,b,c; may be repeated.",
        ),
    ] = [],  # noqa: B006
    samples: Annotated[
        int | None,
        typer.Option(min=1, help="Random points; fewer are the first ones.", show_default=False),
    ] = None,
    samples_seed: Annotated[int, typer.Option(min=0, help="Which random points.")] = 0,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Run every point with seeds 0, 1, ...", show_default=False),
    ] = None,
    settings: Settings = [],  # noqa: B006
    stop_by: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help="Stop a job whose best value is worse than the median of the others.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(
            metavar="VALUE",
            help="Stop all others once a job has reached this value of that metric, instead.",
            show_default=False,
        ),
    ] = None,
    grow: Annotated[bool, typer.Option("--grow", help="More of that metric is better.")] = False,
    name: Annotated[str | None, typer.Option(help="For people.", show_default=False)] = None,
    priority: Annotated[int, typer.Option(min=-100, max=100, help="Higher ones run first.")] = 0,
    watch: Annotated[bool, typer.Option("--watch", help="Show its progress to the end.")] = False,
    url: Url = None,
    as_json: Json = False,
    plugins: Plugins = [],  # noqa: B006
) -> None:
    """Run an experiment at many points, as a group of jobs."""
    from driftfold_api.sweeping.submitting import SweepRequest, submit_sweep

    submit_sweep(
        SweepRequest(
            source=spec,
            settings=tuple(settings),
            grid=tuple(grid),
            random=tuple(random),
            samples=samples,
            samples_seed=samples_seed,
            seeds=seeds,
            stop_by=stop_by,
            target=target,
            goal="max" if grow else "min",
            name=name,
            priority=priority,
            watch=watch,
            url=url,
            as_json=as_json,
            plugins=tuple(plugins),
        )
    )
