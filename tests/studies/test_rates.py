"""What is presumed of cells before anything was measured."""

from driftfold.spec import load_spec
from driftfold.studies.rates import workload


def test_wrappers_work_as_much_as_what_they_are_around() -> None:
    plain = load_spec("pca-synthetic-small", overrides=["algorithm.steps=7"])
    inner = '{kind = "rfedags", steps = 7, batch = 2}'
    coded = f'{{kind = "compressed", algorithm = {inner}, compressor = {{kind = "quantiser"}}}}'
    attacked = f'{{kind = "adversarial", algorithm = {coded}, attack = {{kind = "sign_flip"}}}}'
    assert plain.horizon.rounds is not None
    assert workload(plain) == plain.horizon.rounds * 7
    for algorithm in (coded, attacked):
        assert workload(load_spec("pca-synthetic-small", overrides=[f"algorithm={algorithm}"])) == (
            workload(plain)
        )
