"""A specification names no file that the worker's operator did not offer."""

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftfold.errors import SpecError
from driftfold.registry import families, kinds
from driftfold.spec import from_mapping, load_builtins
from driftfold_workers.artefacts.data_paths import MORE_NAMES, NAMES, refuse_foreign_paths
from driftfold_workers.jobs.job import State
from driftfold_workers.jobs.store import JobStore
from tests.workers.experiments import experiment
from tests.workers.stories import ended, submitted
from tests.workers.supervisors import working

WORDS = {  # texts that are no paths, by kind
    "hyperbolic_prediction": ("query",),
    "bernoulli": ("name",),
    "drawn": ("name",),
    "dirichlet": ("name",),
}


def reading(**data: Any) -> dict[str, Any]:
    task = {"kind": "pca", "rank": 2, "data": data, "partition": {"kind": "iid"}, "clients": 3}
    return experiment(rounds=2, task=task)


def check(folder: Path, path: str, kind: str = "npz", field: str = "path") -> None:
    refuse_foreign_paths(from_mapping(reading(kind=kind, **{field: path})), [str(folder)])


def test_data_below_a_folder_that_is_offered(tmp_path: Path) -> None:
    check(tmp_path, str(tmp_path / "a.npz"))
    check(tmp_path, str(tmp_path / "deep" / "er" / "a.npz"))
    check(tmp_path, os.path.relpath(tmp_path / "a.npz"))
    (tmp_path / "link").symlink_to(tmp_path)
    check(tmp_path / "link", str(tmp_path / "link" / "a.npz"))
    check(Path("/"), "/etc/passwd")  # a bold operator


@pytest.mark.parametrize("path", ["/etc/passwd", "../a.npz", "~root/a.npz", "a.npz", "{}x/a.npz"])
def test_data_elsewhere(tmp_path: Path, path: str) -> None:
    with pytest.raises(SpecError, match=r"task\.data\.path: got .* DRIFTFOLD_DATA=FOLDER"):
        check(tmp_path, path.format(tmp_path))
    with pytest.raises(SpecError, match="may name no files of a worker"):
        refuse_foreign_paths(from_mapping(reading(kind="npz", path=path)), [])


@pytest.mark.parametrize("path", ["{}/a\0.npz", "~nobody-of-that-name/a.npz"])
def test_what_is_no_path(tmp_path: Path, path: str) -> None:
    with pytest.raises(SpecError, match=r"task\.data\.path: got .* wanted the path of a file"):
        check(tmp_path, path.format(tmp_path))


def test_no_link_leads_out(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    with pytest.raises(SpecError, match="may name files below"):
        check(tmp_path, str(tmp_path / "out" / "passwd"))
    with pytest.raises(SpecError, match="may name files below"):
        check(tmp_path, str(tmp_path / ".." / "a.npz"))


def test_every_field_of_a_kind_with_several_files(tmp_path: Path) -> None:
    check(tmp_path, str(tmp_path / "images"), "idx", "images")
    both = {"images": str(tmp_path / "images"), "labels": "/etc/passwd"}
    with pytest.raises(SpecError, match=r"task\.data\.labels: got /etc/passwd"):
        refuse_foreign_paths(from_mapping(reading(kind="idx", **both)), [str(tmp_path)])


def test_no_kind_of_ours_reads_files_unseen() -> None:
    # A field of text that is not limited to a few words is taken for a path until said otherwise.
    load_builtins()
    for family in families():
        for kind, component in kinds(family).items():
            if not component.__module__.startswith("driftfold."):  # of another test
                continue
            known = (*NAMES, *MORE_NAMES.get((family, kind), ()), *WORDS.get(kind, ()))
            for field in fields(component):
                free = field.type in (str, str | None, Path, Path | None)
                assert not free or field.name in known, f"{family}:{kind}.{field.name}"


@pytest.mark.asyncio
async def test_a_worker_reads_what_it_offers_and_nothing_else(
    store: JobStore, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for place in (folder, tmp_path):
        np.savez(place / "a.npz", x=np.random.default_rng(0).normal(size=(12, 5)))
    inside = await submitted(store, reading(kind="npz", path=str(folder / "a.npz")))
    outside = await submitted(store, reading(kind="npz", path=str(tmp_path / "a.npz")))
    async with working(store, tmp_path / "runs", data=(str(folder),)):
        assert (await ended(store, inside.id)).state is State.SUCCEEDED
        refused = await ended(store, outside.id)
    assert (refused.state, refused.attempt) == (State.FAILED, 1)
    assert refused.reason.startswith(
        f"task.data.path: got {tmp_path / 'a.npz'}, but specifications may name"
    )
