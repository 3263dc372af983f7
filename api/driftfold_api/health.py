"""`python -m driftfold_api.health URL`: exit 0 when the API there is ready.

For health checks of containers, whose images have no curl.
"""

import sys
import urllib.error
import urllib.request

WITHIN = 4.0  # seconds


def ready(url: str) -> bool:
    """Return whether the API at an address accepts jobs, be its job store there or not."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url.rstrip('/')}/readyz", timeout=WITHIN) as answer:
            return int(answer.status) == 200
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


if __name__ == "__main__":
    sys.exit(not ready(sys.argv[1]))
