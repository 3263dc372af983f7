"""Past the paper: other rules for the rate, and for whom to average with; what the scripts do."""

from collections.abc import Callable

from driftfold.studies.base import Arm, Experiment
from driftfold.studies.fedade.candidates import RATES, adaptive, by_rate, fixed_rate
from driftfold.studies.fedade.contest import TUNING_SEEDS, Contest, Place
from driftfold.studies.fedade.contests import best, by_bounds
from driftfold.studies.fedade.measuring import measured
from driftfold.studies.fedade.settings import SCHEDULES, SETTINGS, Bounds, Setting
from driftfold.studies.fedade.systems import arm, matched, signalled

_ENTROPY = "algorithm.risk=entropy"
_LIN = SCHEDULES["lin"][1]

_FEDAVG = by_rate(
    "adaptive-fedavg",
    "Adaptive-FedAvg, entropy",
    "adaptive_fedavg",
    RATES["entropy"],
    _ENTROPY,
)
_WIDE = (
    f"algorithm.low={RATES['entropy'][0]}",
    f"algorithm.high={RATES['entropy'][-1]}",
    "algorithm.rates=8",
)
_FLH_FTL = 'algorithm.labels={ kind = "flh_ftl", of = { kind = "inverse" } }'


def _contest(setting: Setting) -> Contest:
    place = Place("lin", "Lin", (setting.under(_LIN),), TUNING_SEEDS)
    return Contest(
        f"beyond-{setting.data}-{setting.shift}",
        f"{setting.title}, other rules",
        setting.preset,
        (place,),
        (_FEDAVG, fixed_rate("entropy")),
    )


CONTESTS = {setting.short: _contest(setting) for setting in SETTINGS if setting.data == "digits"}


def _averaged_labels(setting: Setting, own: tuple[str, ...]) -> tuple[Arm, ...]:
    """Reweighting by a mean of estimates whose length is learnt, where classes shift."""
    if setting.shift != "label":
        return ()
    settings = ('algorithm={ kind = "prior_reweighting" }', _FLH_FTL)
    return (Arm("flh-ftl", setting.preset, (*own, *settings), "prior reweighting, FLH-FTL"),)


def _experiment(setting: Setting) -> Experiment:
    own, preset = (setting.under(_LIN),), setting.preset
    contest = CONTESTS[setting.short]

    def bounded(
        name: str, called: str, make: Callable[[Bounds], tuple[str, ...]], *settings: str
    ) -> Arm:
        chosen = by_bounds(setting, "entropy", make)
        return Arm(name, preset, (*own, *settings), called, tuned=chosen.tuned)

    return measured(
        f"beyond-{setting.data}-{setting.shift}",
        f"{setting.title}, Lin: other rules",
        "entropy as the risk; all but the first four go past the paper",
        (
            Arm("frozen", preset, (*own, 'algorithm={ kind = "frozen" }'), "frozen"),
            arm("best", "entropy", preset, own, by=best(setting, "fixed-entropy", contest)),
            arm("ade", "entropy", preset, own, by=by_bounds(setting, "entropy", signalled(""))),
            matched("ade", "entropy", preset, own),
            arm(
                "cube-root",
                "entropy",
                preset,
                own,
                "Fed-ADE, cube root of the mean signal, entropy",
                by=by_bounds(setting, "entropy", signalled('rule = "cube_root"')),
            ),
            matched("cube-root", "entropy", preset, own, "the cube root"),
            arm(
                "dog", "entropy", preset, (*own, 'algorithm.rate={ kind = "dog" }'), "DoG, entropy"
            ),
            bounded(
                "hypergradient",
                "hypergradient, entropy",
                lambda bounds: (
                    f'algorithm.rate={{ kind = "hypergradient", start = {bounds.mid}, '
                    f"low = {bounds.low}, high = {bounds.high} }}",
                ),
                _ENTROPY,
            ),
            Arm(
                "hedge",
                preset,
                (*own, 'algorithm={ kind = "hedge" }', _ENTROPY, *_WIDE),
                "hedge over eight rates, entropy",
            ),
            bounded(
                "similar",
                "Fed-ADE among similar peers, entropy",
                lambda bounds: (
                    adaptive(bounds).replace("algorithm.rate", "algorithm.algorithm.rate"),
                ),
                'algorithm={ kind = "similar_peers" }',
                "algorithm.algorithm.risk=entropy",
            ),
            Arm(
                _FEDAVG.name,
                preset,
                (*own, *_FEDAVG.settings),
                _FEDAVG.title,
                tuned=contest.tuned(_FEDAVG.name),
            ),
            bounded(
                "release",
                "released scripts, everybody takes part",
                lambda bounds: (f"algorithm.low={bounds.low}", f"algorithm.high={bounds.high}"),
                'algorithm={ kind = "fedade_release" }',
            ),
            *_averaged_labels(setting, own),
        ),
    )


BEYOND = tuple(_experiment(setting) for setting in SETTINGS if setting.short in CONTESTS)
BEYOND_TUNING = tuple(place for contest in CONTESTS.values() for place in contest.experiments)
