"""Products: what they can do, how parts lie in the vector, specifications, gradient streams."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from driftfold.errors import SpecError, UnknownKind
from driftfold.manifolds import (
    Euclidean,
    Exponential,
    Geodesic,
    GeooptSphere,
    GradientStream,
    InvertibleRetraction,
    Lorentz,
    Manifold,
    Product,
    Spd,
    Sphere,
    Stiefel,
)
from driftfold.registry import kind_of
from driftfold.spec.codec import decode, encode
from tests.manifolds.points import ambient, points, tangents

FACTORS: dict[str, Manifold] = {
    "weights": Stiefel(2, 4),
    "bias": Euclidean(3),
    "scale": Spd(2),
    "tree": Lorentz(2, "projection"),
}
MODEL = Product(FACTORS)


@pytest.mark.parametrize(
    ("factors", "abilities"),
    [
        ([Sphere(3), Lorentz(2)], {InvertibleRetraction, Exponential, Geodesic}),
        ([Sphere(3), Stiefel(2, 4)], {InvertibleRetraction, Exponential}),
        ([Sphere(3), GeooptSphere(4)], set()),
        ([Sphere(3)], {InvertibleRetraction, Exponential, Geodesic}),
    ],
    ids=["geodesic", "exponential", "neither", "alone"],
)
def test_can_do_what_all_factors_can(factors: list[Manifold], abilities: set[type]) -> None:
    product = Product({str(i): factor for i, factor in enumerate(factors)})
    capabilities = (InvertibleRetraction, Exponential, Geodesic)
    assert {able for able in capabilities if isinstance(product, able)} == abilities
    for able, names in {
        InvertibleRetraction: ["inverse_retract"],
        Exponential: ["exp"],
        Geodesic: ["log", "dist"],
    }.items():
        for name in names:
            assert hasattr(product, name) == (able in abilities)
    assert kind_of(product) == "product"


def test_transports_are_as_good_as_the_worst() -> None:
    good = Product({"a": Sphere(3), "b": Lorentz(2)})
    assert isinstance(good, Geodesic)
    assert good.isometric
    assert good.parallel
    poor = Product({"a": Sphere(3, transport_by="projection"), "b": Lorentz(2)})
    assert isinstance(poor, Geodesic)
    assert not poor.isometric
    assert not poor.parallel
    walked = Product({"a": Spd(2, transport_by="path")})
    assert isinstance(walked, Geodesic)
    assert walked.isometric
    assert not walked.parallel


def test_parts_lie_in_the_order_of_their_names() -> None:
    # A specification's canonical form sorts names, so no other order could be part of it.
    flat = np.arange(2 * 17.0).reshape(2, 17)
    parts = MODEL.split(flat)
    assert list(parts) == ["bias", "scale", "tree", "weights"]
    assert parts["scale"].tolist()[0] == [[3, 4], [5, 6]]
    assert parts["weights"].shape == (2, 2, 4)
    assert all(np.shares_memory(part, flat) for part in parts.values())
    shuffled = {name: parts[name] for name in FACTORS}
    assert np.array_equal(MODEL.join(shuffled), flat)
    assert Product(dict(reversed(FACTORS.items()))) == MODEL


def test_every_map_acts_on_each_part() -> None:
    x = points(MODEL, 5)
    u, g = tangents(MODEL, x, 0.5), ambient(MODEL, 5)
    y = MODEL.retract(x, u)
    parts = {name: MODEL.split(a) for name, a in {"x": x, "y": y, "u": u, "g": g}.items()}
    for method, arguments in {
        "retract": "xu",
        "project": "xg",
        "gradient": "xg",
        "transport": "xyu",
        "displacement": "xu",
    }.items():
        whole = getattr(MODEL, method)(*({"x": x, "y": y, "u": u, "g": g}[a] for a in arguments))
        for name, factor in FACTORS.items():
            got = MODEL.split(whole)[name]
            expected = getattr(factor, method)(*(parts[a][name] for a in arguments))
            assert np.array_equal(got, expected), (method, name)
    total = sum(f.inner(parts["x"][n], parts["u"][n], parts["g"][n]) for n, f in FACTORS.items())
    np.testing.assert_allclose(MODEL.inner(x, u, g), total, rtol=1e-15)


def test_the_textbooks_forms_follow_each_other() -> None:
    x = points(MODEL, 5)
    parts = MODEL.split(x)
    forms = [FACTORS[name].embed(part).reshape(5, -1) for name, part in parts.items()]
    assert np.array_equal(MODEL.embed(x), np.concatenate(forms, axis=1))
    assert MODEL.embed(x).shape == (5, 18)  # the hyperboloid's time


def test_random_parts_are_independent() -> None:
    twins = Product({"one": Euclidean(4), "two": Euclidean(4)})
    x = twins.split(points(twins, 2000))
    correlation = np.mean(x["one"] * x["two"], axis=0)
    # standard error 1 / sqrt(2000)
    assert np.abs(correlation).max() < 4 / np.sqrt(2000)


def test_parts_that_do_not_broadcast_by_themselves() -> None:
    # A Euclidean projection does not look at x, so its part has the leading axes of v only.
    product = Product({"flat": Euclidean(2), "round": Sphere(3)})
    x, v = points(product, 6), ambient(product, 1)[0]
    got = product.project(x, v)
    assert got.shape == (6, 5)
    assert np.array_equal(got, product.project(x, np.broadcast_to(v, x.shape)))


def test_projects_once_where_a_factor_does() -> None:
    origin = points(MODEL, 3)
    once, each = MODEL.gradient_stream(origin), GradientStream(MODEL, origin)
    x = origin
    for k in range(4):
        g = MODEL.gradient(x, ambient(MODEL, 3, visit=10 + k))
        once.add(x, g)
        each.add(x, g)
        x = MODEL.retract(x, -0.1 * g)
    np.testing.assert_allclose(once.total(), each.total(), rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match="add at least one gradient"):
        MODEL.gradient_stream(origin).total()


def test_in_a_specification() -> None:
    table = encode(MODEL)
    assert table["kind"] == "product"
    assert decode(Manifold, table) == MODEL
    nested = {
        "kind": "product",
        "factors": {"inside": table, "flat": {"kind": "euclidean", "sizes": [1]}},
    }
    assert decode(Manifold, nested).shape == (18,)
    with pytest.raises(SpecError, match="at least one factor, got none"):
        decode(Manifold, {"kind": "product", "factors": {}})
    with pytest.raises(UnknownKind, match=r"factors\.a: unknown manifold kind 'lorenz'"):
        decode(Manifold, {"kind": "product", "factors": {"a": {"kind": "lorenz"}}})


def test_is_a_value() -> None:
    assert pickle.loads(pickle.dumps(MODEL)) == MODEL
    assert copy.deepcopy(MODEL) == MODEL
    assert len({MODEL, Product(FACTORS), Product({"a": Sphere(3)})}) == 2
    assert not isinstance(replace(MODEL, factors={"a": Stiefel(2, 4)}), Geodesic)
    assert isinstance(replace(MODEL, factors={"a": Sphere(3)}), Geodesic)
    assert repr(Product({"a": Sphere(3)})).startswith("Product({'a': Sphere(size=3")


def test_joins_exactly_its_own_parts() -> None:
    parts = MODEL.split(points(MODEL, 1)[0])
    del parts["bias"]
    with pytest.raises(ValueError, match="wanted exactly those of the factors"):
        MODEL.join(parts)


def test_torch() -> None:
    x, g = points(MODEL, 4), ambient(MODEL, 4)
    got = MODEL.gradient(torch.asarray(x), torch.asarray(g))
    np.testing.assert_allclose(got.numpy(), MODEL.gradient(x, g), rtol=0, atol=1e-13)


def test_a_factor_may_be_one_number() -> None:
    model = Product({"axis": Sphere(2), "temperature": Euclidean()})
    x = np.array([1.0, 0.0, 0.5])
    assert model.split(x)["temperature"] == 0.5
    assert model.split(x[None])["temperature"].shape == (1,)
    assert np.array_equal(model.join(model.split(x)), x)
    assert model.retract(x, np.array([0.0, 0.0, 1.0])).tolist() == [1, 0, 1.5]
