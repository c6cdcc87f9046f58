"""Google's discovery document for Sheets v4, as a judge of requests, answers and field masks.

The document knows names and types, no required fields and no masks; what it does not know is
refused, in Google's words, as Google refuses it.
"""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]
Mask = dict[str, "Mask"]
"""A field mask as a tree; a leaf is an empty mask and stands for all beneath it."""

DOCUMENT: Final = Path(__file__).with_name("sheets.v4.json.gz")
ONE_OF: Final = frozenset({"Request", "ExtendedValue", "ColorStyle"})
"""Messages of which only one field may be set (unions, which the document does not tell)."""

INTEGERS: Final = {"int32": 2**31, "int64": 2**63}


class InvalidError(Exception):
    """A request that Google refuses with 400 INVALID_ARGUMENT; str() is Google's message."""


@cache
def schemas() -> dict[str, Json]:
    """Return every message of the API by name."""
    document = json.loads(gzip.decompress(DOCUMENT.read_bytes()))
    loaded: dict[str, Json] = document["schemas"]
    return loaded


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: "_" + m[1].lower(), name)


def check(value: Any, message: str, path: str = "", *, answer: bool = False) -> None:
    """Hold a JSON value against a message of the API. Raises InvalidError.

    answer: the value is an answer, so fields that only Google sets are welcome.
    """
    if not isinstance(value, dict):
        raise InvalidError(f"Invalid value at '{path}' (type.googleapis.com/{message}), {value!r}")
    fields = schemas()[message]["properties"]
    for name, part in value.items():
        here = f"{path}.{_snake(name)}" if path else _snake(name)
        if name not in fields:
            raise InvalidError(
                f"Invalid JSON payload received. Unknown name \"{name}\" at '{path}': "
                "Cannot find field."
            )
        if fields[name].get("readOnly") and not answer:
            raise InvalidError(f"Invalid value at '{here}': the field is read-only")
        _check_field(part, fields[name], here, answer=answer)
    if message in ONE_OF and len(value) > 1:
        raise InvalidError(
            f"Invalid value at '{path}' (oneof), oneof field 'kind' is already set. "
            f"Cannot set '{_snake(list(value)[-1])}'"
        )


def _check_field(value: Any, field: Json, path: str, *, answer: bool) -> None:
    if "$ref" in field:
        check(value, field["$ref"], path, answer=answer)
        return
    kind = field["type"]
    if kind == "array":
        if not isinstance(value, list):
            raise InvalidError(f"Invalid value at '{path}' (a list), {value!r}")
        for number, item in enumerate(value):
            _check_field(item, field["items"], f"{path}[{number}]", answer=answer)
    elif kind == "object":
        for name, item in value.items():
            _check_field(item, field["additionalProperties"], f"{path}.{name}", answer=answer)
    elif not _fits(value, kind, field):
        wanted = str(field.get("format", kind)).upper()
        raise InvalidError(f"Invalid value at '{path}' (TYPE_{wanted}), {json.dumps(value)}")


def _fits(value: Any, kind: str, field: Json) -> bool:
    if kind == "string":
        return isinstance(value, str) and ("enum" not in field or value in field["enum"])
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if kind == "integer":
        most = INTEGERS[field["format"]]
        return value == int(value) and -most <= value < most
    return True


# --- field masks -------------------------------------------------------------------------------


def mask(text: str, message: str) -> Mask:
    """Read a field mask such as ``a,b(c,d.e)`` for a message. Raises InvalidError.

    Names come in camel case; a star stands for all fields.
    """
    if re.search(r"\s", text):
        raise InvalidError("Request contains an invalid argument: a field mask holds no spaces.")
    tree, rest = _mask_list(text, text)
    if rest:
        raise InvalidError(f"Error expanding 'fields' parameter: {text!r}")
    _know(tree, message, "")
    return tree


def _mask_list(text: str, whole: str) -> tuple[Mask, str]:
    tree: Mask = {}
    while True:
        found = re.match(r"[A-Za-z0-9_*]+(?:[./][A-Za-z0-9_*]+)*", text)
        if not found:
            raise InvalidError(f"Error expanding 'fields' parameter: {whole!r}")
        text = text[found.end() :]
        inner: Mask = {}
        if text.startswith("("):
            inner, text = _mask_list(text[1:], whole)
            if not text.startswith(")"):
                raise InvalidError(f"Error expanding 'fields' parameter: {whole!r}")
            text = text[1:]
        at = tree
        *above, last = re.split("[./]", found[0])
        for name in above:
            at = at.setdefault(name, {})
        at.setdefault(last, {}).update(inner)
        if not text.startswith(","):
            return tree, text
        text = text[1:]


def _know(tree: Mask, message: str, path: str) -> None:
    fields = schemas()[message]["properties"]
    for name, inner in tree.items():
        here = f"{path}.{name}" if path else name
        if name == "*":
            continue
        if name not in fields:
            raise InvalidError(
                "Error expanding 'fields' parameter. Cannot find matching fields for path "
                f"'{here}'."
            )
        field = fields[name].get("items", fields[name])
        if inner and "$ref" not in field:
            raise InvalidError(f"Error expanding 'fields' parameter: '{here}' has no fields.")
        if inner:
            _know(inner, field["$ref"], here)


def masked(value: Any, tree: Mask) -> Any:
    """Return what a mask leaves of a value."""
    if not tree or "*" in tree:
        return value
    if isinstance(value, list):
        return [masked(item, tree) for item in value]
    return {name: masked(part, tree[name]) for name, part in value.items() if name in tree}


def merge(target: Json, source: Json, tree: Mask) -> Json:
    """Return the target with the masked fields taken from the source; absent there: cleared."""
    if not tree or "*" in tree:
        return dict(source)
    merged = dict(target)
    for name, inner in tree.items():
        if inner and isinstance(merged.get(name, {}), dict):
            part = merge(merged.get(name, {}), source.get(name, {}), inner)
            merged[name] = part
            if not part:
                del merged[name]
        elif name in source:
            merged[name] = source[name]
        else:
            merged.pop(name, None)
    return merged
