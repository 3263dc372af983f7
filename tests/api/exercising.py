"""Requests made from the API's own description, right and wrong ones, and their answers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup

MOVES = ("/cancel", "/pause", "/resume")
ENDLESS = ("GET /v1/events",)
"""Streams that end when their reader leaves; they have tests of their own."""
SPARED = 5  # jobs that are not deleted
LONGEST = 0.05  # seconds to wait for a record
CHECKED = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_headers_conformance", "response_schema_conformance", "negative_data_rejection",
    "unsupported_method",
)  # fmt: skip


@dataclass
class Exercise:
    """What became of many requests.

    Attributes
    ----------
    answers
        How often each status was answered, by operation.
    findings
        Requests whose answer is none that the description tells, with what is wrong.
    made
        Jobs that were made by the way: they may be canceled and deleted.
    """

    url: str
    jobs: Sequence[str]
    spec: Mapping[str, Any]
    answers: dict[str, Counter[int]] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many requests there were."""
        return sum(sum(counts.values()) for counts in self.answers.values())

    def run(self, examples: int) -> None:
        """Make at least `examples` requests of each kind to each operation."""
        schema = schemathesis.openapi.from_url(f"{self.url}/openapi.json")
        for found in schema.get_all_operations():
            if found.ok().label in ENDLESS:  # type: ignore[union-attr]
                continue
            operation: Any = found.ok()  # type: ignore[union-attr]  # it is a right one
            told = self.answers.setdefault(operation.label, Counter())
            modes = [GenerationMode.POSITIVE]
            if operation.query or operation.headers or operation.body:
                modes.append(GenerationMode.NEGATIVE)  # else there is nothing to do wrong
            for mode in modes:
                with suppress(Unsatisfiable):  # a header that takes any text, say
                    cases = operation.as_strategy(generation_mode=mode)
                    right = mode is GenerationMode.POSITIVE
                    self._exercise(operation.label, cases, told, examples, right)

    def _exercise(
        self, label: str, cases: Any, told: Counter[int], examples: int, right: bool
    ) -> None:
        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases, job=st.sampled_from([None, *self.jobs]), real=st.booleans())
        def ask(case: Any, job: str | None, real: bool) -> None:
            self._aim(label, case, job, real and right)
            answer = case.call(timeout=20.0)
            told[answer.status_code] += 1
            if answer.status_code == 202 and label == "POST /v1/jobs":
                self.made.append(answer.json()["id"])
            self._judge(label, case, answer)

        ask()

    def _aim(self, label: str, case: Any, job: str | None, real: bool) -> None:
        """Let some requests be about jobs that are there, and some specifications be good ones."""
        if "job" in case.path_parameters:
            deletes = case.method.upper() == "DELETE"
            ends = deletes or case.path.endswith(MOVES)
            if ends and job is not None and len(self.made) > (SPARED if deletes else 0):
                chosen = case.path_parameters["job"] = self.made.pop(0)
                if not deletes:
                    self.made.append(chosen)  # in turns
            elif job is not None and not ends:
                case.path_parameters["job"] = job
        if label == "POST /v1/jobs" and real and "spec" in _table(case.body):
            case.body["spec"] = dict(self.spec)
        wait = (case.query or {}).get("wait")
        if isinstance(wait, int | float) and 0 < wait <= 60:
            case.query["wait"] = LONGEST

    def _judge(self, label: str, case: Any, answer: Any) -> None:
        documented = case.operation.definition.raw["responses"]
        if str(answer.status_code) not in documented:
            self.findings.append(f"{label}: {answer.status_code} is not documented: {answer.text}")
        try:
            case.validate_response(answer, checks=_checks())
        except FailureGroup as error:
            self.findings.append(f"{label}: {error}")


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _checks() -> list[Callable[..., Any]]:
    load_all_checks()
    return list(CHECKS.get_by_names(list(CHECKED)))
