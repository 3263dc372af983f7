"""What one process of the API counts of its own: requests, refusals, streams."""

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

from driftfold_api.problem import TYPES

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Bounds of the histogram of answers; a request that waits for news may wait for 60 s."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SUBMIT = ("POST", "/v1/jobs")
OTHER = "other"
NOWHERE = "none"
"""The route of a request whose address nothing has: what people try is no label."""


class RequestMetrics:
    """Counts requests. Labels are routes, never addresses, so there is a fixed number of series."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "driftfold_http_requests",
            "Requests answered, by route and class of status.",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "driftfold_http_request_seconds",
            "Seconds from a request to the beginning of its answer, by route.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._problems = Counter(
            "driftfold_http_problems",
            "Requests that were refused, by type of problem.",
            ["problem"],
            registry=self.registry,
        )
        self._rejected = Counter(
            "driftfold_submissions_rejected",
            "Submissions that were refused, by type of problem.",
            ["problem"],
            registry=self.registry,
        )
        for slug in (*TYPES, OTHER):
            self._problems.labels(slug)
            self._rejected.labels(slug)
        # Looking labels up costs more than counting.
        self._counts: dict[tuple[str, str, int], Counter] = {}
        self._times: dict[str, Histogram] = {}

    def answered(
        self, method: str, route: str | None, status: int, seconds: float, problem: str | None
    ) -> None:
        """Count an answer that began after some seconds; `problem` is its type, if it tells one."""
        route = NOWHERE if route is None else route
        key = (method, route, status // 100)
        count = self._counts.get(key)
        if count is None:
            known = method if method in METHODS else OTHER
            count = self._requests.labels(known, route, f"{status // 100}xx")
            if known == method:  # else there would be no end of them
                self._counts[key] = count
        count.inc()
        time = self._times.get(route)
        if time is None:
            time = self._times[route] = self._seconds.labels(route)
        time.observe(seconds)
        if problem is not None:
            problem = problem if problem in TYPES else OTHER
            self._problems.labels(problem).inc()
            if (method, route) == SUBMIT:
                self._rejected.labels(problem).inc()
