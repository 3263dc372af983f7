"""FedVARP: what clients last sent stands for those that are silent.

Jhunjhunwala, D., Sharma, P., Nagarkatti, A., Joshi, G.: "FedVARP: tackling the variance due to
partial client participation in federated learning", UAI 2022. With y_j what client j last sent (0
before), the server steps along

    v = sum_j a_j y_j + sum_{i in S_t} w_i (zeta_i - y_i),    then y_i <- zeta_i for i in S_t.

The published weights are 1/|S_t| (estimator "none"): unbiased where everybody is as likely to
respond. With estimator "oracle" it is unbiased for any known p_i, since the mean of w_i 1{i in S_t}
is a_i, and its variance is sum_i a_i^2 (1 - p_i) / p_i |zeta_i - y_i|^2: that of inverse
probabilities, of what is new only (our derivation; tested over all cohorts). A round in which
nobody responds is skipped, as always, where that wants a step along what is remembered: steps are
short by the chance of such rounds.
"""

from dataclasses import dataclass
from typing import Any

from driftfold.algorithms.base import Phase
from driftfold.algorithms.server_memory import FromMemory, Remembering, ServerMemory
from driftfold.arrays import Array, Floats, Ints
from driftfold.combinations.aggregation import weighted_sum
from driftfold.registry import register
from driftfold.tasks.base import Problem


@register("fedvarp")
@dataclass(frozen=True)
class FedVARP(ServerMemory):
    """An algorithm whose server adds what is new of the responders to what it remembers of all.

    Attributes
    ----------
    algorithm
        The inner algorithm, which says what clients send and how the server steps along a vector.
    """

    def wrap(self, phase: Phase[Any, Any, Any], number: int, problem: Problem) -> FromMemory:
        """Return the phase whose server remembers."""
        return NewsOnMemory(phase, number, problem, self)


@dataclass(frozen=True)
class NewsOnMemory(FromMemory):
    """One exchange of FedVARP."""

    def direct(
        self, state: Remembering, clients: Ints, weights: Floats, vectors: Array
    ) -> tuple[Array, Remembering]:
        """Take v = sum_j a_j y_j + sum_i w_i (zeta_i - y_i)."""
        news = weighted_sum(weights, vectors - state.of(clients))
        v = state.mean(self.problem.fleet.importance) + news
        return v, state.learning(clients, vectors)
