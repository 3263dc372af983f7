"""The optimum of a problem that must have one."""

from driftfold.tasks import Problem


def optimum_of(problem: Problem) -> float:
    best = problem.optimum()
    assert best is not None, problem.remark()
    return best
