"""What `retry`, `clone` and `sweep` refuse before anybody is asked."""

import pytest

from tests.command.cli import call


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("retry",), "the id of a job, or --dead"),
        (("retry", "x", "--dead"), "the id of a job, or --dead"),
        (("sweep", "pca-synthetic", "--grid", "seed"), "wanted FIELD=VALUE,VALUE"),
        (("sweep", "pca-synthetic", "--set", "seed=-1"), "seed: got -1"),
    ],
)
def test_refusals(typed: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*typed) == 2
    assert says in capsys.readouterr().err
