from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import pytest

from driftfold import registry
from driftfold.errors import SpecError, UnknownKind
from driftfold.registry import (
    families,
    family,
    family_of,
    kind_of,
    kinds,
    lookup,
    register,
    unknown,
)


@pytest.fixture(autouse=True)
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a registry of its own."""
    monkeypatch.setattr(registry, "_families", {})
    monkeypatch.setattr(registry, "_kinds", {})


@pytest.fixture
def animal() -> type[Any]:
    @family("animal")
    class Animal(ABC):
        @abstractmethod
        def sound(self) -> str: ...

    return Animal


def make(animal: type[Any], name: str) -> type[Any]:
    @dataclass(frozen=True)
    class Made(animal):  # type: ignore[misc]
        loud: bool = False

        def sound(self) -> str:
            return name

    Made.__qualname__ = name
    return Made


def test_a_registered_kind_is_found(animal: type[Any]) -> None:
    dog = register("dog")(make(animal, "Dog"))
    cat = register("cat")(make(animal, "Cat"))
    assert lookup("animal", "dog") is dog
    assert list(kinds("animal").items()) == [("cat", cat), ("dog", dog)]
    assert families() == {"animal": animal}
    assert (family_of(dog), family_of(dog()), family_of(int)) == ("animal", "animal", None)
    assert (kind_of(dog), kind_of(cat())) == ("dog", "cat")


def test_the_answers_are_copies(animal: type[Any]) -> None:
    families().clear()
    kinds("animal")["x"] = int
    assert list(families()) == ["animal"]
    assert kinds("animal") == {}


def test_a_taken_kind_is_refused(animal: type[Any]) -> None:
    first = register("dog")(make(animal, "Dog"))
    with pytest.raises(SpecError, match=r"as 'dog': this animal kind is already .*Dog; choose"):
        register("dog")(make(animal, "Wolf"))
    assert lookup("animal", "dog") is first


def test_the_same_definition_may_be_loaded_again(animal: type[Any]) -> None:
    register("dog")(make(animal, "Dog"))
    again = register("dog")(make(animal, "Dog"))
    assert lookup("animal", "dog") is again


def test_two_families_may_use_one_kind(animal: type[Any]) -> None:
    @family("toy")
    class Toy: ...

    dog = register("dog")(make(animal, "Dog"))
    toy: type[Any] = register("dog")(dataclass(frozen=True)(type("ToyDog", (Toy,), {})))
    assert (lookup("animal", "dog"), lookup("toy", "dog")) == (dog, toy)


def test_a_family_is_declared_once(animal: type[Any]) -> None:
    with pytest.raises(SpecError, match=r"family 'animal' is already .*Animal; choose another"):
        family("animal")(type("Other", (), {}))
    assert families()["animal"] is animal


def test_a_class_without_family_is_refused(animal: type[Any]) -> None:
    with pytest.raises(SpecError, match="derives from no family; derive it from one of Animal"):
        register("stone")(dataclass(frozen=True)(type("Stone", (), {})))


@pytest.mark.parametrize("decorate", [lambda c: c, dataclass])
def test_only_frozen_dataclasses_are_kinds(animal: type[Any], decorate: Any) -> None:
    bare = decorate(type("Bare", (animal,), {"sound": lambda self: ""}))
    with pytest.raises(SpecError, match=r"put @dataclass\(frozen=True\) below @register"):
        register("bare")(bare)


def test_a_missing_method_is_named(animal: type[Any]) -> None:
    mute: type[Any] = dataclass(frozen=True)(type("Mute", (animal,), {}))
    with pytest.raises(SpecError, match="lacks what Animal requires; define sound"):
        register("mute")(mute)
    assert kinds("animal") == {}


def test_a_kind_is_not_inherited(animal: type[Any]) -> None:
    dog = register("dog")(make(animal, "Dog"))
    puppy: type[Any] = dataclass(frozen=True)(type("Puppy", (dog,), {}))
    for component in (puppy, puppy(), 7):
        with pytest.raises(SpecError, match=r"has no kind; register it with @register"):
            kind_of(component)


@pytest.mark.parametrize("kind", ["dogg", "", 7, None, ["dog"], {"kind": "dog"}])
def test_an_unknown_kind_names_the_known_ones(animal: type[Any], kind: Any) -> None:
    register("dog")(make(animal, "Dog"))
    with pytest.raises(UnknownKind, match=r"unknown animal kind .* known: dog$"):
        lookup("animal", kind)


def test_an_unknown_family_names_the_known_ones(animal: type[Any]) -> None:
    for ask in (lambda: lookup("animals", "dog"), lambda: kinds("animals")):
        with pytest.raises(UnknownKind, match=r"family 'animals'; did you mean 'animal'\?"):
            ask()


def test_the_sentence_about_an_unknown_name() -> None:
    assert unknown("kind", "cat", ["car", "dog"]) == (
        "unknown kind 'cat'; did you mean 'car'? known: car, dog"
    )
    assert unknown("kind", "xyz", ["dog"]) == "unknown kind 'xyz'; known: dog"
    assert unknown("kind", "xyz", []) == "unknown kind 'xyz'; known: none"
