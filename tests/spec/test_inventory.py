"""The catalogue, the words for annotations, and the limits on sizes."""

# ruff: noqa: E501 - a case is one line

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Gt, Interval, MinLen, MultipleOf

from driftfold.data import BalancedTree, WordNetMammals
from driftfold.errors import SpecError
from driftfold.memory import gigabytes, machine_bytes
from driftfold.registry import families, kinds
from driftfold.spec import catalogue, load_builtins
from driftfold.spec.hints import limits, short, wanted
from driftfold.spec.inventory import describe
from driftfold.spec.limits import check_limits
from driftfold.tasks import HyperbolicGraphEmbedding, PoincareEmbedding
from tests.modules import own_kinds
from tests.spec.bakery import Fruit, Layered, Topping

load_builtins()


@pytest.fixture(scope="module")
def everything() -> dict[str, dict[str, Any]]:
    """The catalogue, worked out once."""
    return catalogue()


def test_the_catalogue_lists_every_kind_and_is_json() -> None:
    listed = json.loads(json.dumps(catalogue(), allow_nan=False))
    assert {name: sorted(listed[name]) for name in listed} == {
        name: sorted(kinds(name)) for name in families()
    }
    assert {"task", "algorithm", "participation", "estimator", "compute"} <= set(listed)


@pytest.mark.parametrize(
    ("family", "kind"),
    [(f, k) for f in families() if not f.startswith("test-") for k in own_kinds(f)],
)
def test_every_built_in_kind_and_field_is_described(
    family: str, kind: str, everything: dict[str, dict[str, Any]]
) -> None:
    about = everything[family][kind]
    assert about["doc"].endswith((".", ":", ")")), about["doc"]
    assert [field["name"] for field in about["fields"] if not field["doc"]] == []


def test_a_kind_is_described_with_types_limits_and_defaults() -> None:
    assert describe(Fruit) == {
        "doc": "Fresh fruit.",
        "fields": [
            {
                "name": "name",
                "type": "str",
                "required": True,
                "default": None,
                "constraint": "",
                "doc": "Which fruit.",
            },
            {
                "name": "shares",
                "type": "list[float]",
                "required": False,
                "default": [0.5, 0.5],
                "constraint": "each of at least 0 and of at most 1",
                "doc": "Share of each piece, from 0 to 1.",
            },
        ],
    }
    layered = {field["name"]: field for field in describe(Layered)["fields"]}
    assert layered["size"]["type"] == "int | float | 'full'"
    assert layered["size"]["constraint"] == "float above 0"
    assert layered["layers"]["type"] == "list[test-topping]"
    assert layered["oven"]["default"] == {"minutes": 30, "fan": False, "top": None}
    assert layered["notes"]["type"] == "table[str, int] | null"


@pytest.mark.parametrize(
    ("hint", "words", "name", "constraint"),
    [
        (int, "a whole number", "int", ""),
        (Annotated[int, Gt(0), MultipleOf(2)], "a whole number above 0 and divisible by 2", "int", "above 0 and divisible by 2"),
        (Annotated[float, Interval(ge=0, lt=1)] | None, "a finite number of at least 0 and below 1, or null", "float | null", "float of at least 0 and below 1"),
        (Literal["a", "b"], "'a' or 'b'", "'a' | 'b'", ""),
        (Annotated[tuple[int, ...], MinLen(2)], "a list, each a whole number; of length 2 or more", "list[int]", "of length 2 or more"),
        (tuple[Topping, ...], "a list, each a test-topping (a table with a kind)", "list[test-topping]", ""),
        (Any, "anything", "Any", ""),
    ],
)  # fmt: skip
def test_annotations_in_words(hint: Any, words: str, name: str, constraint: str) -> None:
    assert wanted(hint) == words
    assert short(hint) == name
    assert limits(hint) == constraint


@dataclass(frozen=True)
class Heavy:
    size: int

    def footprint(self) -> int:
        return self.size


@dataclass(frozen=True)
class Cart:
    parts: tuple[Heavy, ...]
    clients: int = 1


def test_memory_that_no_machine_has_is_refused() -> None:
    most = machine_bytes()
    check_limits(Cart((Heavy(most // 2), Heavy(most // 2))))
    has = f"this machine has {gigabytes(most)}: ask for fewer"
    with pytest.raises(SpecError, match=rf"parts\[1\]: its arrays would take 2,000,000 GB, {has}"):
        check_limits(Cart((Heavy(1), Heavy(2 * 10**15))))
    with pytest.raises(SpecError, match=f"the arrays would take .* GB together, {has}"):
        check_limits(Cart((Heavy(7 * most // 10),) * 2))


MAMMALS = HyperbolicGraphEmbedding(relation=WordNetMammals())


@pytest.mark.parametrize(
    "component",
    [
        replace(MAMMALS, negatives=10**9),
        replace(MAMMALS, dimension=10**9),
        PoincareEmbedding(dimension=10**9),
        PoincareEmbedding(negatives=10**9),
        PoincareEmbedding(relation=BalancedTree(branching=10, depth=6)),
        BalancedTree(branching=10**4, depth=30),
    ],
)
def test_embeddings_that_no_machine_holds_are_refused(component: Any) -> None:
    with pytest.raises(SpecError, match=r"its arrays would take [\d,]+ GB, this machine has"):
        check_limits(component)


def test_a_large_tree_has_no_matrix() -> None:
    task = HyperbolicGraphEmbedding(relation=BalancedTree(branching=10, depth=5))
    assert task.footprint() < 10**9 / 2
    assert 10**8 < task.relation.footprint() < 10**9 / 2  # type: ignore[attr-defined]
    with pytest.raises(SpecError, match="clients: got 100,000,001 clients, wanted at most"):
        check_limits(Cart((), clients=10**8 + 1))


def test_listing_and_checking_import_no_torch_and_listing_no_pydantic() -> None:
    code = """if True:
        import sys
        from driftfold.spec import catalogue, load_spec
        catalogue()
        assert not {"torch", "geoopt", "pydantic", "matplotlib"} & set(sys.modules)
        load_spec("pca-synthetic")
        assert not {"torch", "geoopt", "matplotlib"} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", code], check=True)
