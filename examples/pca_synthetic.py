"""The synthetic PCA experiment of RFedAGS: two algorithms times two weightings, over seeds.

    python examples/pca_synthetic.py [--seeds 5] [--rounds 1000]

The four arms of one seed share the data, the first iterate, and who answers when. They differ in
what the server does with the answers: it averages gradient streams (RFedAGS) or end points in the
tangent space (RFedAvg), and weights all answers alike (1/|S_t|) or by how often each client has
answered so far (1/(q_i N)).
"""

import argparse
from statistics import median

from driftfold.run import run
from driftfold.spec import load_spec

ARMS = {
    "RFedAGS, weights 1/(q_i N)": "pca-synthetic",
    "RFedAvg, weights 1/(q_i N)": "pca-synthetic-rfedavg-corrected",
    "RFedAGS, weights 1/|S_t|": "pca-synthetic-rs",
    "RFedAvg, weights 1/|S_t|": "pca-synthetic-rfedavg",
}


def end_gap(preset: str, seed: int, rounds: int) -> float:
    """Run one arm under one seed; return the optimality gap F(x_T) - F* at the end."""
    spec = load_spec(preset, overrides=[f"seed={seed}", f"horizon.rounds={rounds}"])
    return run(spec).metrics["gap"]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="how many: 0, 1, 2, ...")
    parser.add_argument("--rounds", type=int, default=1000)
    args = parser.parse_args()

    print(f"optimality gap after {args.rounds} rounds")
    seeds = range(args.seeds)
    print(f"{'':28}{'median':>8}   " + "".join(f"{f'seed {seed}':>8}" for seed in seeds))
    for arm, preset in ARMS.items():
        gaps = [end_gap(preset, seed, args.rounds) for seed in seeds]
        print(f"{arm:28}{median(gaps):8.4f}   " + "".join(f"{gap:8.4f}" for gap in gaps))


if __name__ == "__main__":
    main()
