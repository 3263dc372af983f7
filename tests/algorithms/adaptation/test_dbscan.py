"""DBSCAN against its definition, and MADD against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftfold.algorithms.adaptation.dbscan import dbscan
from driftfold.algorithms.adaptation.madd import cosines, madd
from driftfold.arrays import Floats, Ints

POINTS = st.lists(st.integers(0, 12), min_size=1, max_size=12)


def by_definition(distances: Floats, eps: float, least: int) -> tuple[Ints, list[set[int]]]:
    """Clusters of cores as classes of "can be reached", and for the others where they may go."""
    near = distances <= eps
    core = near.sum(axis=1) >= least
    reach = near & core[:, None] & core[None, :]
    for _ in range(len(distances)):  # transitive closure
        reach = reach | (reach.astype(int) @ reach.astype(int) > 0)
    labels = np.full(len(distances), -1)
    for i in np.flatnonzero(core):
        if labels[i] < 0:
            labels[reach[i]] = labels.max() + 1
    may = [
        {int(labels[i])} if core[i] else {int(x) for x in labels[near[i] & core]} or {-1}
        for i in range(len(distances))
    ]
    return labels, may


@settings(max_examples=40)
@given(POINTS, st.integers(1, 4), st.sampled_from([0.5, 1.0, 2.0]))
def test_clusters_are_those_of_the_definition(points: list[int], least: int, eps: float) -> None:
    x = np.array(points, dtype=float)
    distances = np.abs(x[:, None] - x)
    found = dbscan(distances, eps, least)
    cores, may = by_definition(distances, eps, least)
    assert (found[cores >= 0] == cores[cores >= 0]).all()
    for label, allowed in zip(found.tolist(), may, strict=True):
        assert label == min(allowed)  # a border point goes to the first cluster that reaches it


def test_with_one_point_enough_clusters_are_connected_parts() -> None:
    """The setting of FedCCFA: everybody is a core, and nobody is noise."""
    x = np.array([0.0, 3.0, 0.4, 3.3, 9.0])
    assert dbscan(np.abs(x[:, None] - x), 0.5, 1).tolist() == [0, 1, 0, 1, 2]


def test_madd_is_the_mean_over_third_vectors() -> None:
    vectors = np.random.default_rng(3).standard_normal((6, 4))
    s = cosines(vectors)
    for i in range(6):
        for j in range(6):
            cos = vectors[i] @ vectors[j] / np.linalg.norm(vectors[i]) / np.linalg.norm(vectors[j])
            assert s[i, j] == pytest.approx(cos, abs=1e-14)
            others = [z for z in range(6) if z not in (i, j)]
            expected = np.mean([abs(s[i, z] - s[j, z]) for z in others]) if i != j else 0
            assert madd(s)[i, j] == pytest.approx(expected, abs=1e-14)


def test_madd_needs_a_third_vector() -> None:
    with pytest.raises(ValueError, match="give 3 or more"):
        madd(np.eye(2))
