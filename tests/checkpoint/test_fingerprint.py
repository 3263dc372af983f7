import json
import subprocess
import sys

import numpy as np

import driftfold
from driftfold.checkpoint import Fingerprint, take_fingerprint


def test_it_names_what_numbers_depend_on() -> None:
    facts = take_fingerprint(packages=["annotated-types", "no-such-package"]).facts
    assert facts["driftfold"] == driftfold.__version__
    assert facts["numpy"] == np.__version__
    assert facts["python"].endswith(".".join(map(str, sys.version_info[:3])))
    assert facts["annotated-types"][0].isdigit()
    assert facts["no-such-package"] is None
    assert json.loads(json.dumps(facts)) == facts


def test_it_is_the_same_in_another_process() -> None:
    """Whatever that process has imported: SciPy brings a second library for linear algebra."""
    code = (
        "import scipy.linalg\n"
        "from driftfold.checkpoint import take_fingerprint; print(take_fingerprint().digest)"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == take_fingerprint().digest


def test_a_changed_plug_in_changes_it() -> None:
    before = take_fingerprint({"mine": "a1", "other": "c3"})
    assert take_fingerprint({"other": "c3", "mine": "a1"}).digest == before.digest
    after = take_fingerprint({"mine": "b2", "other": "c3"})
    assert after.digest != before.digest
    (change,) = before.changes(after)
    assert change.startswith("plugins: ")


def test_changes_name_what_is_new_and_what_is_gone() -> None:
    old, new = Fingerprint({"a": 1, "b": 2, "c": 3}), Fingerprint({"a": 1, "b": 4, "d": 5})
    assert old.changes(new) == ["b: 2 -> 4", "c: 3 -> None", "d: None -> 5"]
    assert old.changes(old) == []
    assert Fingerprint({"b": 2, "a": 1, "c": 3}).digest == old.digest
