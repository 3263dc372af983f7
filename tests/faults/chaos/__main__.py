"""``python -m tests.faults.chaos``: a long campaign against a service of its own.

Prints progress on standard error, and a report as JSON. Ends with 1 when a rule was broken.
"""

import argparse
import json
import sys

from tests.faults.chaos.campaign import Plan, campaign
from tests.faults.chaos.carrying_out import carry_out, tell
from tests.faults.chaos.faults import FAULTS


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    plan = Plan()
    for name in ("seed", "faults", "rounds"):
        words.add_argument(f"--{name}", type=int, default=getattr(plan, name))
    for name in ("every", "pause", "lease", "within"):
        words.add_argument(f"--{name}", type=float, default=getattr(plan, name))
    words.add_argument("--kind", dest="kinds", action="append", choices=sorted(FAULTS))
    given = vars(words.parse_args())
    given["kinds"] = tuple(given["kinds"] or FAULTS)

    report = carry_out(campaign(Plan(**given), tell))
    print(json.dumps(report.to_json(), indent=1))
    return 1 if report.broken else 0


if __name__ == "__main__":
    sys.exit(main())
