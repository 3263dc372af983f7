"""What a mail says: its subject and its text, without the other headers."""

import html
import re
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from typing import Any

from driftfold.data.texts.plain_text import decoded, spaced

_HIDDEN = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)


def mail_text(raw: bytes) -> str:
    r"""Return subject and text; of a mail in HTML alone the text between the tags.

    Other headers are left out: they tell where and when a collection was gathered.

    >>> mail_text(b"Subject: Hello\nReceived: by x\n\nHow are\nyou?\n")
    'Hello How are you?'
    >>> mail_text(b"Content-Type: text/html\n\n<p>5 &lt; <b>6</b><style>p {}</style>")
    '5 < 6'
    """
    message = message_from_bytes(raw)
    texts: dict[str, list[str]] = {"plain": [], "html": []}
    for part in message.walk():
        if part.get_content_maintype() == "text":
            texts.setdefault(part.get_content_subtype(), []).append(_content(part))
    shown = texts["plain"] or [html.unescape(_HIDDEN.sub(" ", text)) for text in texts["html"]]
    return spaced(" ".join([_subject(message), *shown]))


def _content(part: Message) -> str:
    content: Any = part.get_payload(decode=True)
    return decoded(content or b"", part.get_content_charset())


def _subject(message: Message) -> str:
    told = str(message.get("Subject", ""))
    try:
        parts = decode_header(told)
    except (HeaderParseError, ValueError):
        return told
    return "".join(p if isinstance(p, str) else decoded(p, coding) for p, coding in parts)
