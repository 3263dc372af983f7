"""What is claimed of the rules, and how it is judged: fixed before the values were known.

All is judged by the mean gap of the last rounds, run by run.
"""

from collections.abc import Iterable
from functools import partial
from itertools import product

from driftfold.studies.base import Claim
from driftfold.studies.comparisons import together
from driftfold.studies.estimators.drifts import DRIFTS
from driftfold.studies.estimators.grids import LATE, TASKS, experiment_name
from driftfold.studies.estimators.rules import (
    AGGREGATIONS,
    FORGETTING,
    LASTING,
    MEAN,
    MEMORY,
    RULES,
    STREAMS,
    WEIGHTS,
)
from driftfold.studies.significance import Pair, all_same, all_smaller, none_smaller
from driftfold.studies.values import Sample, Values
from driftfold.studies.verdict import Finding

CLOSE = 1.5
"""Factor within which two rules end alike: well below the factor of 10 that a bias makes."""

ALIKE = 1.1
"""Factor within which two aggregations are the same."""

_DRIFTING = ("sine", "staircase", "diurnal")


def _gap(values: Values, task: str, drift: str, arm: str) -> Sample:
    return values.late(experiment_name(task, drift), arm, LATE)


def _pairs(values: Values, drifts: Iterable[str], rules: Iterable[tuple[str, str]]) -> list[Pair]:
    """Pairs of rules, in all tasks and with both aggregations."""
    return [
        Pair(
            f"{one} / {other} ({task}, {drift}, {how})",
            _gap(values, task, drift, f"{how}-{one}"),
            _gap(values, task, drift, f"{how}-{other}"),
        )
        for task, drift, how, (one, other) in product(TASKS, drifts, AGGREGATIONS, list(rules))
    ]


def _uncorrected(values: Values) -> Finding:
    return all_smaller("true p ends below no weights", _pairs(values, DRIFTS, [("oracle", "none")]))


def _stationary(values: Values) -> Finding:
    pairs = _pairs(values, ["bernoulli"], [(rule, "oracle") for rule in WEIGHTS])
    return all_same("they end as the true p does", pairs, CLOSE)


def _harmless(values: Values) -> Finding:
    pairs = _pairs(values, _DRIFTING, [(rule, "oracle") for rule in ("past", "inclusive")])
    return all_same("they end as the true p does", pairs, CLOSE)


def _jump_fools(values: Values) -> Finding:
    pairs = _pairs(values, ["jump"], [("oracle", rule) for rule in LASTING])
    return all_smaller("the true p ends below", pairs)


def _forgetting_helps(values: Values) -> Finding:
    pairs = _pairs(values, ["jump"], [(rule, "past") for rule in FORGETTING])
    return all_smaller("they end below past rounds", pairs)


def _forgetting_suffices(values: Values) -> Finding:
    pairs = _pairs(values, ["jump"], [(rule, "oracle") for rule in FORGETTING])
    return all_same("they end as the true p does", pairs, CLOSE)


def _forgetting_costs(values: Values) -> Finding:
    pairs = _pairs(values, ["bernoulli"], [("past", rule) for rule in FORGETTING])
    return all_smaller("past rounds end below", pairs)


def _weights(values: Values) -> Finding:
    """Weights do not depend on the task: one experiment tells."""

    def bias(drift: str, rule: str) -> Sample:
        return values.late(experiment_name("pca", drift), f"{STREAMS}-{rule}", LATE, "weight_bias")

    def pair(drift: str, one: str, other: str) -> Pair:
        return Pair(f"{one} / {other} ({drift})", bias(drift, one), bias(drift, other))

    return together(
        "after a jump forgetting has the smaller bias, and without one counting all rounds has",
        all_smaller("less after a jump", [pair("jump", rule, "past") for rule in FORGETTING]),
        all_smaller("less without one", [pair("bernoulli", "past", rule) for rule in FORGETTING]),
    )


def _unbeaten(values: Values) -> Finding:
    pairs = _pairs(values, DRIFTS, [(rule, "oracle") for rule in WEIGHTS])
    return none_smaller("the true p is not beaten", pairs)


def _memory(values: Values) -> Finding:
    pairs = _pairs(values, DRIFTS, [(rule, "oracle") for rule in ("ipw-varp", "mifa")])
    return all_smaller("they end below the true p", pairs)


def _gone(values: Values) -> Finding:
    rules = [(one, other) for one in MEMORY for other in ("none", "oracle", *WEIGHTS)]
    return all_smaller("memory ends below weights", _pairs(values, ["dropout"], rules))


def _counted_memory(values: Values) -> Finding:
    pairs = _pairs(values, DRIFTS, [("varp-window", "window")])
    return all_smaller("with memory the same weights end lower", pairs)


def _told_or_counted(values: Values) -> Finding:
    pairs = _pairs(values, DRIFTS, [("varp-window", "ipw-varp")])
    return all_same("counted weights end as true ones", pairs, CLOSE)


def _fedawe(values: Values) -> Finding:
    pairs = [
        Pair(
            f"fedawe / oracle ({task}, {drift})",
            _gap(values, task, drift, "fedawe"),
            _gap(values, task, drift, f"{STREAMS}-oracle"),
        )
        for task, drift in product(TASKS, DRIFTS)
    ]
    return all_same("FedAWE ends as the true p does", pairs, CLOSE)


def _aggregations(values: Values) -> Finding:
    pairs = [
        Pair(
            f"streams / end points ({task}, {drift}, {rule})",
            _gap(values, task, drift, f"{STREAMS}-{rule}"),
            _gap(values, task, drift, f"{MEAN}-{rule}"),
        )
        for task, drift, rule in product(TASKS, DRIFTS, RULES)
    ]
    return all_same("both aggregations end alike", pairs, ALIKE)


def _past_or_inclusive(values: Values) -> Finding:
    pairs = _pairs(values, DRIFTS, [("inclusive", "past")])
    return all_same("both counts end alike", pairs, ALIKE)


def _winner(task: str, drift: str, values: Values) -> Finding:
    """MIFA against all others that are not told probabilities, gradient streams."""
    mifa = _gap(values, task, drift, f"{STREAMS}-mifa")
    others = [f"{STREAMS}-{rule}" for rule in ("none", *WEIGHTS, "varp-window")] + ["fedawe"]
    pairs = [Pair(f"mifa / {arm}", mifa, _gap(values, task, drift, arm)) for arm in others]
    return all_smaller("MIFA ends below the others", pairs)


_US = "us, before the run"
_PAPER = "the RFedAGS paper, for fixed probabilities"

CLAIMS = (
    Claim(
        "uncorrected",
        "Without weights the gap stalls: the true probabilities end below, however participation "
        "changes.",
        _PAPER,
        _uncorrected,
    ),
    Claim(
        "stationary",
        "Under fixed probabilities all estimators end as the true probabilities do.",
        _PAPER,
        _stationary,
    ),
    Claim(
        "harmless",
        "A sine, a staircase and days leave the paper's counts right: they end as the true "
        "probabilities do.",
        _US,
        _harmless,
    ),
    Claim(
        "jump-fools",
        "After a jump the paper's counts, and FedAU, keep a bias: the true probabilities end "
        "below.",
        _US,
        _jump_fools,
    ),
    Claim(
        "forgetting-helps",
        "After a jump a window, EWMA and Kalman end below the paper's count of past rounds.",
        _US,
        _forgetting_helps,
    ),
    Claim(
        "forgetting-suffices",
        "They remove the bias: 150 rounds after the jump they are as the true probabilities.",
        _US,
        _forgetting_suffices,
    ),
    Claim(
        "forgetting-costs",
        "Without change forgetting costs: the count of past rounds ends below.",
        _US,
        _forgetting_costs,
    ),
    Claim(
        "weights",
        "The weights say the same: sum (w_i p_i - 1)^2 is smaller with forgetting after a jump, "
        "and without it under fixed probabilities.",
        _US,
        _weights,
    ),
    Claim("unbeaten", "No estimate of the probabilities ends below the true ones.", _US, _unbeaten),
    Claim(
        "memory",
        "Servers with memory, IPW-VARP and MIFA, end below weights by the true probabilities.",
        _US,
        _memory,
    ),
    Claim(
        "gone",
        "After clients have left, memory ends below all weights.",
        _US,
        _gone,
    ),
    Claim(
        "counted-memory",
        "Where probabilities are counted in a window, memory ends below weights alone.",
        _US,
        _counted_memory,
    ),
    Claim(
        "told-or-counted",
        "With memory it does not matter whether probabilities are known or counted in a window.",
        _US,
        _told_or_counted,
    ),
    Claim(
        "fedawe",
        "FedAWE needs no probabilities and ends as the true ones do, however they change.",
        "the FedAWE paper, on flat spaces",
        _fedawe,
    ),
    Claim(
        "aggregations",
        "Whether gradient streams or end points are averaged makes no difference.",
        _US,
        _aggregations,
    ),
    Claim(
        "past-or-inclusive",
        "The paper's count and that of its program end alike.",
        _US,
        _past_or_inclusive,
    ),
    *(
        Claim(
            f"winner-{experiment_name(task, drift)}",
            f"{TASKS[task]}, {drift}: of rules that are told no probabilities MIFA ends lowest.",
            _US,
            partial(_winner, task, drift),
        )
        for task, drift in product(TASKS, DRIFTS)
    ),
)
