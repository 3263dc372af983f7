"""A YAML loader with the core schema of YAML 1.2, safe for texts of strangers.

PyYAML follows version 1.1, where ``6e-3`` is text, ``off`` is false, ``010`` is 8 and ``1:30`` is
90. That would give one specification two meanings in two formats.
"""

import re
from collections.abc import Hashable
from typing import Any

import yaml


class Yaml12Loader(yaml.SafeLoader):
    """Safe, with numbers as TOML and JSON have them; no aliases, no repeated keys."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own mechanism

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases: a few lines of them could expand to gigabytes."""
        if self.check_event(yaml.AliasEvent):
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"aliases (*name) are not supported, line {line}")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a key that is given twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                raise yaml.YAMLError(f"the key {key.value!r} is given twice, line {line}")
            seen.add(str(key.value))
        return super().construct_mapping(node, deep=deep)

    def decimal(self, node: yaml.ScalarNode) -> int:
        """Read a whole number; a leading zero does not make it octal."""
        text = self.construct_scalar(node)
        return int(text, 0) if text[:2] in ("0x", "0o") else int(text)

    def real(self, node: yaml.ScalarNode) -> float:
        """Read a number with a point or an exponent, infinity or NaN."""
        return float(
            self.construct_scalar(node).lower().replace(".inf", "inf").replace(".nan", "nan")
        )


_TAG = "tag:yaml.org,2002:"
for tag, pattern, first in (
    ("null", r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", list("tTfF")),
    ("int", r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)", list("-+0123456789")),
    (
        "float",
        r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))",
        list("-+.0123456789"),
    ),
):
    Yaml12Loader.add_implicit_resolver(_TAG + tag, re.compile(f"^{pattern}$"), first)
Yaml12Loader.add_constructor(_TAG + "int", Yaml12Loader.decimal)
Yaml12Loader.add_constructor(_TAG + "float", Yaml12Loader.real)
