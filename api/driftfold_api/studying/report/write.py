"""Writing the report's files."""

from pathlib import Path

from driftfold_api.errors import RequestError
from driftfold_api.studying.report.markdown import to_markdown
from driftfold_api.studying.report.model import Report
from driftfold_api.studying.report.page import to_page

PAGE, SUMMARY = "report.html", "summary.md"


def write_report(report: Report, root: Path) -> Path:
    """Write the page and the summary into a study's folder; return the page's path."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        for name, text in ((SUMMARY, to_markdown(report)), (PAGE, to_page(report))):
            part = root / f"{name}.part"
            part.write_text(text, encoding="utf-8")
            part.replace(root / name)
    except OSError as error:
        raise RequestError(
            f"cannot write the report in {root}: {error.strerror}; choose another --folder"
        ) from None
    return root / PAGE
