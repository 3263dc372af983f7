"""What `driftfold submit` sends to the service, and what it refuses itself."""

import json
from datetime import datetime
from typing import Any

import pytest

from driftfold_api import submitting
from driftfold_api.terms import TermsAsked, TermsGiven, to_body
from tests.command.cli import call


def given(monkeypatch: pytest.MonkeyPatch, *words: str) -> TermsGiven:
    """The terms that a command line means."""
    sent: list[TermsGiven] = []
    monkeypatch.setattr(submitting, "submit_spec", lambda *all_: sent.append(all_[3]))
    assert call("submit", "pca-synthetic", *words) == 0
    return sent[0]


def test_options_are_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    job, other = "01900000-0000-7000-8000-000000000000", "01900000-0000-7000-8000-000000000001"
    words = ["--priority", "-5", "--delay", "90", "--attempts", "2", "--cpu-seconds", "60"]
    words += ["--wall-seconds", "0.5", "--memory", "512", "--after", job, "--after", other]
    body = to_body(given(monkeypatch, *words))
    assert body == {
        "priority": -5,
        "delay_seconds": 90.0,
        "attempts": 2,
        "limits": {"cpu_seconds": 60.0, "wall_seconds": 0.5, "memory_mib": 512},
        "after": [job, other],
    }
    assert TermsAsked.model_validate(json.loads(json.dumps(body))).after == [job, other]


def test_without_options_terms_are_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    body = to_body(given(monkeypatch))
    assert TermsAsked.model_validate(body) == TermsAsked()


def test_a_time_without_a_zone_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("2030-01-31T08:00", "2030-01-31 08:00"):
        body = to_body(given(monkeypatch, "--not-before", text))
        moment = TermsAsked.model_validate(body).not_before
        assert moment is not None
        assert moment.timestamp() == datetime(2030, 1, 31, 8).timestamp()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--not-before", "tomorrow"], "got 'tomorrow', wanted a date and a time"),
        (["--not-before", "2030-01-31T08:00", "--delay", "1"], "give one of them"),
        (["--priority", "101"], "--priority"),
        (["--attempts", "0"], "--attempts"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[Any]
) -> None:
    assert call("submit", "pca-synthetic", *words) == 2
    assert told in capsys.readouterr().err
