"""Tables of a class and a text a line, in Orange's tab format: three lines of names, then rows."""

import csv
from io import StringIO

from driftfold.errors import DataError


def parse_tab(content: bytes, where: object) -> tuple[list[str], list[str]]:
    r"""Return the classes and the texts; rows without a class are left out.

    >>> parse_tab(b"Category\tText\nd\tstring\nclass\t\n\nearn\tgood news\n", "here")
    (['earn'], ['good news'])
    """
    try:
        lines = csv.reader(StringIO(content.decode(), newline=""), delimiter="\t")
        head, *rows = [line for line in lines if line]
    except (UnicodeDecodeError, ValueError, csv.Error) as error:
        raise DataError(f"{where} is no table of texts ({error}); obtain it again") from None
    told = [row for row in rows[2:] if row[0]]
    if len(head) != 2 or not told or any(len(row) != 2 for row in told):
        raise DataError(f"{where} has no rows of a class and a text; obtain it again")
    return [row[0] for row in told], [row[1] for row in told]
