"""Assembly: from a specification to a world whose parts fit together."""

from driftfold.rng import Seed
from driftfold.spec import JobSpec, validate
from driftfold.world.world import World


def build(spec: JobSpec) -> World:
    """Load the data and put the parts of an experiment together.

    Raises `SpecError` or `CapabilityError` when they do not fit, `DataError` when data are missing.

    >>> from driftfold.spec import load_spec
    >>> build(load_spec("pca-synthetic")).fleet.size
    40
    """
    validate(spec)
    problem = spec.task.build(Seed(spec.seed))
    spec.algorithm.check(problem)
    phases = tuple(spec.algorithm.phases(problem))
    spec.cadence.check(phases, problem)
    attendance = spec.participation.attend(problem.fleet)
    return World(
        problem=problem,
        algorithm=spec.algorithm,
        phases=phases,
        attendance=attendance,
        delays=spec.latency.delays(problem.fleet),
        estimator=spec.estimator,
        weighing=spec.estimator.begin(problem.fleet, attendance),
        faults=spec.faults,
        horizon=spec.horizon,
        evaluate_every=spec.evaluate_every,
        metrics=spec.metrics,
    )
