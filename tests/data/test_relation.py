import hashlib
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

from driftfold.data import (
    BalancedTree,
    Relation,
    WordNetMammals,
    laplacian_features,
    laplacian_spectrum,
    relation_of,
)
from driftfold.data.mammals import make
from driftfold.data.wordnet_mammals import FILE, SHA256, read_closure
from driftfold.errors import DataError
from driftfold.rng import Seed


@pytest.fixture(scope="module")
def mammals() -> Relation:
    return WordNetMammals().load(Seed(0))


def test_the_mammals_are_the_published_set(mammals: Relation) -> None:
    assert len(mammals.names) == 1180
    assert mammals.pairs.shape == (6540, 2)
    lines = sorted(f"{mammals.names[a]},{mammals.names[b]}" for a, b in mammals.pairs.tolist())
    assert hashlib.sha256("\n".join(lines).encode()).hexdigest() == SHA256
    assert SHA256 in (FILE.parent / "README.md").read_text()


def test_the_mammals_are_closed_under_transitivity(mammals: Relation) -> None:
    above: dict[int, set[int]] = {}
    for lower, upper in mammals.pairs.tolist():
        above.setdefault(lower, set()).add(upper)
    assert all(above.get(u, set()) <= uppers for uppers in above.values() for u in uppers)
    root = mammals.number("mammal.n.01")
    assert all(root in uppers for uppers in above.values())
    assert len(above) == 1179


def test_the_licence_comes_with_the_mammals() -> None:
    text = (FILE.parent / "LICENSE").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University." in text
    assert "Permission to use, copy, modify and distribute" in text


def test_features_of_the_mammals_solve_the_generalised_problem(mammals: Relation) -> None:
    """With the eigenvalues of the published features, which are given to six digits."""
    values, features = [0.135689, 0.167712, 0.188901], laplacian_features(mammals)
    joined = mammals.adjacency
    degree = joined.sum(axis=1)[:, None]
    left = degree * features - joined @ features
    quotients = (features * left).sum(axis=0)
    assert np.allclose(quotients, values, atol=5e-7)
    assert np.abs(left - quotients * (degree * features)).max() < 1e-12
    assert np.allclose(features.T @ (degree * features), np.eye(3), atol=1e-12)


def test_features_are_those_of_another_solver() -> None:
    rng = np.random.default_rng(4)
    joined = np.triu(rng.random((40, 40)) < 0.2, 1) | np.eye(40, k=1, dtype=bool)
    names = [f"n{k:02d}" for k in range(40)]
    graph = relation_of([(names[i], names[j]) for i, j in np.argwhere(joined)])
    degree = np.diag(graph.adjacency.sum(axis=1))
    values, vectors = eigh(degree - graph.adjacency, degree)
    assert np.allclose(laplacian_spectrum(graph)[0], values, atol=1e-13)
    features = laplacian_features(graph, 4)
    signs = np.sign((features * vectors[:, 1:5]).sum(axis=0))
    # Eigenvalues of a random graph are 1e-2 apart, so vectors are good to 1e-13.
    assert np.abs(features - signs * vectors[:, 1:5]).max() < 1e-12
    assert (features[np.abs(features).argmax(axis=0), range(4)] > 0).all()


def test_features_go_with_the_names(mammals: Relation) -> None:
    """The published experiment has another order of names; signs are the same in each."""
    few = BalancedTree(branching=2, depth=2).load(Seed(0))
    names = [few.names[k] for k in (3, 0, 6, 1, 5, 2, 4)]
    moved = few.ordered(names)
    rows = [few.names.index(name) for name in names]
    assert np.array_equal(moved.adjacency, few.adjacency[np.ix_(rows, rows)])
    with pytest.raises(DataError, match="got 6 names for a relation of 7"):
        few.ordered(names[:-1])


def test_graphs_without_unique_coordinates_are_refused() -> None:
    with pytest.raises(DataError, match="several pieces"):
        laplacian_features(relation_of([("a", "b"), ("c", "d")]), 1)
    with pytest.raises(DataError, match="2 names have 1 coordinates, 3 were wanted"):
        laplacian_features(relation_of([("a", "b")]))
    with pytest.raises(DataError, match="'c' is in no pair"):
        laplacian_spectrum(Relation(("a", "b", "c"), np.array([[0, 1]])))
    with pytest.raises(DataError, match="no 'cat' among its 2 names"):
        relation_of([("a", "b")]).number("cat")


@pytest.mark.parametrize(("branching", "depth"), [(2, 1), (3, 3), (5, 2)])
def test_a_tree_has_every_pair_of_node_and_ancestor(branching: int, depth: int) -> None:
    tree = BalancedTree(branching, depth).load(Seed(0))
    assert len(tree.names) == sum(branching**k for k in range(depth + 1))
    assert len(tree.pairs) == sum(k * branching**k for k in range(depth + 1))
    for lower, upper in tree.pairs.tolist():
        assert tree.names[lower].startswith(f"{tree.names[upper]}.")


def test_a_changed_file_of_mammals_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "closure.csv"
    with pytest.raises(DataError, match="part of driftfold; install it again"):
        read_closure(path)
    path.write_bytes(FILE.read_bytes().replace(b"\n", b"\r\n"))  # as a checkout may have it
    assert len(read_closure(path)) == 6540
    path.write_bytes(FILE.read_bytes()[:-30])
    with pytest.raises(DataError, match="it was changed; install driftfold again"):
        read_closure(path)


INDEX = """\
  1 a line of the licence
animal n 1 1 @ 1 0 00000001
cat n 2 1 @ 2 1 00000003 00000005
dog n 1 1 @ 1 0 00000004
mammal n 1 1 @ 1 0 00000002
tom n 1 1 @ 1 0 00000006
"""
DATA = """\
  1 a line of the licence
00000001 03 n 01 animal 0 000 | not under the root
00000002 03 n 02 mammal 0 beast 0 001 @ 00000001 n 0000 | has | bars
00000003 03 n 01 Cat 0 002 @ 00000002 n 0000 ~ 00000006 n 0000 | first sense
00000004 03 n 01 dog 0 002 @ 00000002 n 0000 + 00000009 v 0101 | a verb is no hypernym
00000005 03 n 01 cat 0 001 @ 00000001 n 0000 | second sense
00000006 03 n 01 tom 0 001 @i 00000003 n 0000 | an instance
"""


def test_the_closure_is_made_from_the_database_files(tmp_path: Path) -> None:
    (tmp_path / "index.noun").write_text(INDEX, "latin-1")
    (tmp_path / "data.noun").write_text(DATA, "latin-1")
    make.main(tmp_path, tmp_path / "closure.csv")
    assert (tmp_path / "closure.csv").read_text().splitlines() == [
        "cat.n.01,mammal.n.01",
        "dog.n.01,mammal.n.01",
        "tom.n.01,cat.n.01",
        "tom.n.01,mammal.n.01",
    ]
