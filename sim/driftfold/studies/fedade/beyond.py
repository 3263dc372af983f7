"""Past the paper: other rules for the rate, and for whom to average with; what the scripts do."""

from driftfold.studies.base import Arm, Experiment
from driftfold.studies.fedade.grids import measured
from driftfold.studies.fedade.settings import SCHEDULES, SETTINGS, Setting
from driftfold.studies.fedade.systems import adaptive, arm, fixed

_ENTROPY = "algorithm.risk=entropy"


def _experiment(setting: Setting) -> Experiment:
    drift, bounds, preset = setting.under(SCHEDULES["lin"][1]), setting.of_entropy, setting.preset
    within = (f"algorithm.low={bounds.low}", f"algorithm.high={bounds.high}")

    def system(name: str, called: str, kind: str, *settings: str) -> Arm:
        return Arm(name, preset, (drift, f'algorithm={{ kind = "{kind}" }}', *settings), called)

    return measured(
        f"beyond-{setting.data}-{setting.shift}",
        f"{setting.title}, Lin: other rules",
        "entropy as the risk; all but the first three go past the paper",
        (
            system("frozen", "frozen", "frozen"),
            arm("ade", "entropy", preset, (drift, adaptive(bounds))),
            arm("mid", "entropy", preset, (drift, fixed(bounds.mid))),
            arm(
                "cube-root",
                "entropy",
                preset,
                (drift, adaptive(bounds, 'rule = "cube_root"')),
                "Fed-ADE, cube root of the mean signal, entropy",
            ),
            arm(
                "dog",
                "entropy",
                preset,
                (drift, 'algorithm.rate={ kind = "dog" }'),
                "DoG, entropy",
            ),
            arm(
                "hypergradient",
                "entropy",
                preset,
                (drift, 'algorithm.rate={ kind = "hypergradient" }'),
                "hypergradient, entropy",
            ),
            system("hedge", "hedge over rates, entropy", "hedge", _ENTROPY, *within),
            system(
                "similar",
                "Fed-ADE among similar peers, entropy",
                "similar_peers",
                "algorithm.algorithm.risk=entropy",
                adaptive(bounds).replace("algorithm.rate", "algorithm.algorithm.rate"),
            ),
            system("adaptive-fedavg", "Adaptive-FedAvg, entropy", "adaptive_fedavg", _ENTROPY),
            system("release", "released scripts, everybody takes part", "fedade_release", *within),
        ),
        small=None,
    )


BEYOND = tuple(_experiment(setting) for setting in SETTINGS if setting.data == "digits")
