import base64

import pytest

from driftfold.data.texts.mail_text import mail_text
from driftfold.data.texts.plain_text import decoded, spaced
from driftfold.data.texts.tab_table import parse_tab
from driftfold.errors import DataError

HEAD = b"Category\tText\nd\tstring\nclass\t\n"


def test_tables_of_texts() -> None:
    table = HEAD + '\nearn\tgood "news"\nacq\té\n\t no class\n'.encode()
    assert parse_tab(table, "here") == (["earn", "acq"], ['good "news"', "é"])


@pytest.mark.parametrize(
    "content",
    [b"", HEAD, HEAD + b"a\n", HEAD + b"a\tb\tc\n", b"Text\nd\n\na\tb\n", HEAD + b"a\t\xff\n"],
)
def test_other_tables_are_refused(content: bytes) -> None:
    with pytest.raises(DataError, match=r"here (has no rows of a class|is no table of texts)"):
        parse_tab(content, "here")


def test_texts_are_decoded_as_told_or_as_far_as_they_can() -> None:
    assert decoded("ж".encode("koi8-r"), "koi8-r") == "ж"
    assert decoded("ж".encode(), "ascii") == "ж"
    assert decoded(b"\xa3", "utf-8") == "£"
    assert spaced(decoded(b"x\n\t y ", "made-up")) == "x y"


MAILS = {
    "headers but the subject are left out": (
        b"From x Thu Aug 22\nReceived: by spam-2\nSubject: =?iso-8859-1?q?caf=E9?= now"
        b"\n\nHi  you\n",
        "café now Hi you",
    ),
    "parts are decoded": (
        b'Content-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/plain; '
        b"charset=koi8-r\nContent-Transfer-Encoding: base64\n\n"
        + base64.b64encode("ж".encode("koi8-r"))
        + b"\n--B\nContent-Type: application/zip\nContent-Transfer-Encoding: base64\n\nUEsDBA==\n"
        b"--B--\n",
        "ж",
    ),
    "plain text goes before HTML": (
        b'Content-Type: multipart/alternative; boundary="B"\n\n--B\n\nplain\n--B\n'
        b"Content-Type: text/html\n\n<b>bold</b>\n--B--\n",
        "plain",
    ),
    "tags, scripts and notes are no text": (
        b"Content-Type: text/html\n\n<SCRIPT>x</script >1<!-- 2 > -->3<a\nhref=4>&amp;",
        "1 3 &",
    ),
    "broken mails are read as far as they can": (
        b'Subject: =?utf-8?x\nContent-Type: multipart/mixed; boundary="B"\n\nno part',
        "=?utf-8?x",
    ),
    "nothing": (b"", ""),
}


@pytest.mark.parametrize("name", MAILS)
def test_mails(name: str) -> None:
    raw, text = MAILS[name]
    assert mail_text(raw) == text
