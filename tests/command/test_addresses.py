"""Where the service is: what was said goes before what was noted."""

import json
import resource
import socket
import subprocess
from pathlib import Path

import pytest

from driftfold_api import serving
from driftfold_api.addresses import FILE, forget, living, note, runs_place, service_url
from driftfold_api.errors import RequestError


def test_the_nearest_word_counts(here: Path) -> None:
    (here / "runs").mkdir()
    with pytest.raises(RequestError, match="driftfold serve"):
        service_url(None, {})
    note(here / "runs", "http://noted:1")
    environ = {"DRIFTFOLD_URL": "http://said:2/"}
    assert service_url(None, {}) == "http://noted:1"
    assert service_url(None, environ) == "http://said:2"
    assert service_url("https://given:3", environ) == "https://given:3"
    assert service_url(None, {"DRIFTFOLD_URL": ""}) == "http://noted:1"


def test_the_folder_of_runs_can_be_elsewhere(here: Path) -> None:
    environ = {"DRIFTFOLD_RUNS": str(here / "data")}
    (here / "data").mkdir()
    note(here / "data", "http://noted:1")
    assert service_url(None, environ) == "http://noted:1"
    assert runs_place(None, environ) == str(here / "data")
    assert runs_place("mine", environ) == "mine"
    assert runs_place(None, {}) == "runs"


def test_runs_at_a_url_have_no_note() -> None:
    with pytest.raises(RequestError, match="no service is known"):
        service_url(None, {"DRIFTFOLD_RUNS": "memory://runs"})


def test_a_note_is_taken_away_by_its_writer_only(here: Path) -> None:
    note(here, "http://one:1")
    note(here, "http://two:2")
    forget(here, "http://one:1")
    assert json.loads((here / FILE).read_text())["url"] == "http://two:2"
    forget(here, "http://two:2")
    assert list(here.iterdir()) == []
    forget(here, "http://two:2")


def test_a_full_disk_keeps_no_service_from_serving(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, hard = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        serving._note(here, "http://one:1")
        with pytest.raises(OSError, match="too large"):
            note(here, "http://one:1")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "File too large; commands need --url http://one:1" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_alive_is_a_service_whose_process_is_there_and_whose_address_answers(here: Path) -> None:
    assert living(here) is None
    with subprocess.Popen(["sleep", "60"]) as other, socket.create_server(("127.0.0.1", 0)) as at:
        url = f"http://127.0.0.1:{at.getsockname()[1]}"
        noted = json.dumps({"url": url, "pid": other.pid})
        (here / FILE).write_text(noted)
        assert living(here) == url
        forget(here, url)  # not ours, for all that the address is the same
        assert (here / FILE).read_text() == noted
        (here / FILE).write_text(json.dumps({"url": "http://127.0.0.1:1", "pid": other.pid}))
        assert living(here) is None
        (here / FILE).write_text(noted)
        other.kill()
        other.wait()
        assert living(here) is None
    note(here, url)
    assert living(here) is None  # a container's process has the same number each time


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"pid": 1}'])
def test_a_broken_note_is_none(here: Path, text: str) -> None:
    (here / "runs").mkdir()
    (here / "runs" / FILE).write_text(text)
    with pytest.raises(RequestError, match="no service is known"):
        service_url(None, {})


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "8000"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(RequestError, match="wanted one such as http://"):
        service_url(url, {})
