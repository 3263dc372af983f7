import inspect

import driftfold.errors as errors


def classes() -> dict[str, type[BaseException]]:
    return {
        name: value
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, BaseException)
    }


def drawn_tree() -> dict[str, str]:
    """Name of each error in the docstring's drawing, with the name of its parent."""
    parents: dict[str, str] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        mark = max(line.find("├── "), line.find("└── "))
        if mark < 0 and line.strip() != "DriftfoldError":
            continue
        depth = 0 if mark < 0 else (mark - 4) // 4 + 1
        name = line.strip(" │├└─").split()[0]
        parents[name] = above[depth - 1] if depth else "Exception"
        above[depth:] = [name]
    return parents


def test_the_drawing_is_the_tree() -> None:
    assert drawn_tree() == {name: made.__base__.__name__ for name, made in classes().items()}  # type: ignore[union-attr]


def test_every_error_says_what_it_is() -> None:
    for made in classes().values():
        assert (made.__doc__ or "").endswith(".")
        assert str(made("what was got")) == "what was got"
