"""The page of a study: what was written by hand, and what its summary tells, thinned."""

from docs.make_study_page import MARKER, grouped, page, sections

SUMMARY = """# A title of its own

Whether it works.

## Verdicts

| claim | verdict | reason | evidence |
|---|---|---|---|
| It works. | **holds** | it does | gain: 1.00 (0.9 to 1.1) |

## Accuracy before the update, in percent

|  | digits, Lin | digits, Squ |
|---|---|---|
| frozen | 1 | 2 |

## Tuning. Of a

`tune-a`: on other seeds; 1 seed.

| accuracy_visits after round | 100 |
|---|---|
| low | 0.1 |

## Digits: a

`a`: all arms; 5 seeds.

| accuracy_visits after round | 100 |
|---|---|
| frozen | 1 |

## Bounds

`bounds`: of the rate; 5 seeds.
Values are means.

| accuracy_visits after round | 100 |
|---|---|
| frozen | 0.75 |

| bytes_up after round | 100 |
|---|---|
| frozen | 0 |

| rate after round | 100 |
|---|---|
| frozen | 0.5 |

## Gaps

`gaps`: of another study; 5 seeds.

| gap after round | 100 |
|---|---|
| rfedags | 0.25 |

## How it was run

    driftfold study made-up --jobs 2 --folder /somewhere/of-mine --data '/my data/x' --seeds 3

- 5 of 5 runs have a result
"""


def test_what_was_written_by_hand_stays_and_the_rest_is_thinned() -> None:
    made = page("# By hand\n\nWords.\n", SUMMARY, {"a"})
    assert made.startswith(f"# By hand\n\nWords.\n\n{MARKER}\n\nWhether it works.\n\nOf tables of ")
    assert "| frozen | 1 | 2 |" in made, "across experiments"
    assert "`a`: all arms" not in made
    assert "tune-a" not in made
    assert "| frozen | 0.75 |" in made
    assert "| frozen | 0.5 |" in made
    assert "bytes_up" not in made
    assert "| rfedags | 0.25 |" in made, "a study without the usual metrics keeps its own"
    assert "    driftfold study made-up --jobs 2 --data FOLDER --seeds 3\n" in made
    assert "/somewhere" not in made
    assert "shown; 2 that tune, or stand in the tables across, have none here.\n\n## V" in made
    assert (
        "means over the schedules that were run\n\n|  | digits |\n|---|---|\n| frozen | 1.5 |\n"
        in made
    )
    assert page("# By hand\n\nWords.\n", SUMMARY, {"a"}) == made


def test_there_is_no_mean_where_something_is_missing() -> None:
    table = "|  | a, x | a, y | b, x |\n|---|---|---|---|\n| arm | 1 (0 to 2) | 2 (2 to 2) | - |"
    assert grouped(table) == "|  | a | b |\n|---|---|---|\n| arm | 1.5 | - |"


def test_sections_are_those_of_the_summary() -> None:
    assert [one.name for one in sections(SUMMARY)] == [
        "",
        "",
        "",
        "tune-a",
        "a",
        "bounds",
        "gaps",
        "",
    ]
