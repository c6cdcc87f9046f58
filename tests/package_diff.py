"""Says what two workbooks differ in, so that "nothing lost" is checked and not claimed.

    python -m tests.package_diff before.xlsx after.xlsx

`diff` describes every difference; `assert_kept` fails where one is a loss.
"""

from __future__ import annotations

import posixpath
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from tests.package import CONTENT_TYPES, Package, Relationship, Sheet, canonical, children, local


@dataclass(frozen=True, slots=True)
class Change:
    """What stood somewhere before and what stands there after; None where nothing did."""

    what: str
    before: object
    after: object

    def __str__(self) -> str:
        if self.before is None:
            return f"+ {self.what}: {self.after}"
        if self.after is None:
            return f"- {self.what}: {self.before}"
        return f"~ {self.what}: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Difference:
    """Everything that two packages differ in; false where they hold the same.

    How the zip itself was written (order, times, compression) does not count.
    """

    before: Package
    after: Package
    parts_added: tuple[str, ...]
    parts_removed: tuple[str, ...]
    parts_changed: tuple[str, ...]
    relationships: tuple[Change, ...]
    content_types: tuple[Change, ...]
    sheets: tuple[Change, ...]
    extensions: tuple[Change, ...]

    def cells(self, title: str) -> tuple[Change, ...]:
        """What the cells of a tab differ in: contents, or looks with every style resolved."""
        return _changes(self.before.cells(title), self.after.cells(title))

    def __bool__(self) -> bool:
        return bool(self.parts_added or self.parts_removed or self.parts_changed)

    def __str__(self) -> str:
        lines = [f"+ part {name}" for name in self.parts_added]
        lines += [f"- part {name}" for name in self.parts_removed]
        lines += [f"~ part {name}" for name in self.parts_changed]
        for change in self.sheets + self.relationships + self.content_types + self.extensions:
            lines.append(str(change))
        titles = dict.fromkeys(sheet.title for sheet in self.before.sheets + self.after.sheets)
        for title in titles:
            lines += [f"{title!r} {change}" for change in self.cells(title)]
        return "\n".join(lines) or "no difference"


def diff(a: Path | bytes | Package, b: Path | bytes | Package) -> Difference:
    """Compare two packages."""
    before, after = (p if isinstance(p, Package) else Package(p) for p in (a, b))
    old, new = before.parts, after.parts
    return Difference(
        before,
        after,
        parts_added=tuple(sorted(new.keys() - old.keys())),
        parts_removed=tuple(sorted(old.keys() - new.keys())),
        parts_changed=tuple(sorted(n for n in old.keys() & new.keys() if old[n] != new[n])),
        relationships=_changes(_by_id(before), _by_id(after)),
        content_types=_changes(before.content_types, after.content_types),
        sheets=_changes(_by_title(before), _by_title(after)),
        extensions=_changes(_by_uri(before), _by_uri(after)),
    )


def _by_id(package: Package) -> dict[str, Relationship]:
    return {f"relationship {r.source}#{r.id}": r for r in package.relationships}


def _by_title(package: Package) -> dict[str, tuple[int, str, str]]:
    return {
        f"tab {sheet.title!r}": (number, sheet.part, sheet.state)
        for number, sheet in enumerate(package.sheets, 1)
    }


def _by_uri(package: Package) -> dict[str, int]:
    return {f"extension {uri} of {part}": n for (part, uri), n in package.extensions.items()}


def _changes(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[Change, ...]:
    return tuple(
        Change(key, before.get(key), after.get(key))
        for key in dict.fromkeys((*before, *after))
        if before.get(key) != after.get(key)
    )


# --- nothing lost ------------------------------------------------------------------------------

_BY_POSITION: Final = frozenset(
    ("fonts", "fills", "borders", "cellStyleXfs", "cellXfs", "cellStyles", "dxfs", "sheets")
)
"""Tables whose entries others name by position: what is new must come last."""
_BY_NAME: Final = frozenset(("numFmts", "definedNames"))
_COUNTERS: Final = frozenset(("count", "uniqueCount"))
_RECALCULATE: Final = "fullCalcOnLoad"  # the one attribute that may come to what is there


def assert_kept(
    a: Path | bytes | Package,
    b: Path | bytes | Package,
    *,
    except_parts: Collection[str] = (),
    except_tabs: Collection[str] = (),
) -> Difference:
    """Assert that everything of package a still stands in package b.

    Every part is the same byte for byte, but for: parts that match a pattern of `except_parts`;
    the tabs of `except_tabs` and the parts that only they lead to; and the parts that list
    others or are shared (content types, the workbook, its relationships, the styles), which may
    grow but lose and move nothing. What is new must be listed where a reader looks for it.
    """
    found = diff(a, b)
    losses = list(_losses(found, except_parts, except_tabs))
    assert not losses, "lost or changed:\n" + "\n".join(losses)
    return found


def _losses(
    found: Difference, except_parts: Collection[str], except_tabs: Collection[str]
) -> Iterator[str]:
    before, after = found.before, found.after
    ours = _only_of(before, except_tabs) | _only_of(after, except_tabs)

    def excepted(part: str) -> bool:
        return part in ours or any(fnmatchcase(part, pattern) for pattern in except_parts)

    listing = {CONTENT_TYPES, _rels_of(before.workbook_part)}
    free = {str(n) for n, sheet in enumerate(before.sheets) if sheet.title in except_tabs}
    shared = {before.workbook_part, before.part_of_kind("styles")}
    for name in found.parts_removed:
        if not excepted(name):
            yield f"- part {name}"
    for name in found.parts_changed:
        if excepted(name) or name in listing:
            continue
        if name in shared:
            trees = before.tree(name), after.tree(name)
            yield from (f"~ {name}: {loss}" for loss in lost(*trees, free))
        else:
            yield f"~ part {name}: {_first_difference(before.parts[name], after.parts[name])}"
    for change in found.relationships:
        was = change.before
        if isinstance(was, Relationship) and not (excepted(was.source) or excepted(was.target)):
            yield str(change)
    for change in found.content_types:
        if change.before is not None and not excepted(change.what):
            yield str(change)
    yield from _unlisted(found)
    for sheet in before.sheets:
        if sheet.title not in except_tabs and not excepted(sheet.part):
            yield from _lost_cells(found, sheet)


def lost(before: ET.Element, after: ET.Element, free: Collection[str] = ()) -> Iterator[str]:
    """Say what a workbook part or styles part lost, moved or changed; growing is no loss.

    free: positions of tabs (``localSheetId``) whose own names may change.
    """
    yield from _lost_attributes(before, after)
    rest = list(after)
    for old in before:
        at = next((i for i, new in enumerate(rest) if new.tag == old.tag), None)
        if at is None:
            yield f"<{local(old)}> is gone"
            continue
        new = rest[at]
        rest = rest[at + 1 :]
        if local(old) in _BY_POSITION | _BY_NAME:
            yield from _lost_entries(old, new, free)
        else:
            yield from _lost_attributes(old, new)
            if (old.text or "", children(old)) != (new.text or "", children(new)):
                yield f"<{local(old)}> was {canonical(old)}, is {canonical(new)}"


def _lost_attributes(old: ET.Element, new: ET.Element) -> Iterator[str]:
    for key in dict.fromkeys((*old.keys(), *new.keys())):
        gained = key == _RECALCULATE and local(new) == "calcPr"
        if old.get(key) != new.get(key) and key not in _COUNTERS and not gained:
            yield f"<{local(old)} {key}> was {old.get(key)!r}, is {new.get(key)!r}"


def _lost_entries(old: ET.Element, new: ET.Element, free: Collection[str]) -> Iterator[str]:
    yield from _lost_attributes(old, new)
    had, has = (
        [canonical(entry) for entry in table if entry.get("localSheetId") not in free]
        for table in (old, new)
    )
    if local(old) in _BY_POSITION:
        for number, entry in enumerate(had):
            if number >= len(has) or has[number] != entry:
                there = has[number] if number < len(has) else "nothing"
                yield f"<{local(old)}> entry {number} was {entry}, is {there}"
    else:
        yield from (f"<{local(old)}> lost {entry}" for entry in had if entry not in has)


def _lost_cells(found: Difference, sheet: Sheet) -> Iterator[str]:
    """The cells of a kept tab: needed only where what they point into has changed."""
    before, after = found.before, found.after
    reads = {sheet.part, before.part_of_kind("styles"), before.part_of_kind("sharedStrings")}
    if after.part_of(sheet.title) != sheet.part or not reads.isdisjoint(found.parts_changed):
        yield from (f"{sheet.title!r} {change}" for change in found.cells(sheet.title))


def _unlisted(found: Difference) -> Iterator[str]:
    """What is in the package after, but where no reader finds it, or finds nothing."""
    before, after = found.before, found.after
    reached = _reached(after, [""])
    for name in found.parts_added:
        ending = "." + name.rpartition(".")[2].lower()
        if name not in after.content_types and ending not in after.content_types:
            yield f"+ part {name}: without a content type"
        if not name.endswith(".rels") and name not in reached:
            yield f"+ part {name}: no relationship leads to it"
    for relationship in after.relationships - before.relationships:
        if not relationship.external and relationship.target not in after.parts:
            yield f"+ relationship to nothing: {relationship}"
    for name in after.content_types.keys() - before.content_types.keys():
        if not name.startswith(".") and name not in after.parts:
            yield f"+ content type of nothing: {name}"
    for sheet in after.sheets:
        if sheet.part in found.parts_added + found.parts_changed:
            yield from after.unstyled(sheet.title)
    titles = Counter(sheet.title.casefold() for sheet in after.sheets)
    yield from (f"tab {title!r} stands {n} times" for title, n in titles.items() if n > 1)


def _only_of(package: Package, titles: Collection[str]) -> set[str]:
    """The parts of some tabs, and those that nothing but these tabs leads to."""
    tabs = [sheet.part for sheet in package.sheets if sheet.title in titles]
    return _reached(package, tabs) - _reached(package, [""], but=tabs)


def _reached(package: Package, start: Iterable[str], but: Collection[str] = ()) -> set[str]:
    """The parts that relationships lead to, with the parts that hold these relationships."""
    targets: dict[str, list[str]] = {}
    for r in package.relationships:
        if not r.external:
            targets.setdefault(r.source, []).append(r.target)
    reached: set[str] = set()
    todo = list(start)
    while todo:
        part = todo.pop()
        if part in reached or part in but:
            continue
        reached |= {part, _rels_of(part)}
        todo += targets.get(part, [])
    return reached


def _rels_of(part: str) -> str:
    folder, file = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{file}.rels")


def _first_difference(old: bytes, new: bytes) -> str:
    pairs = zip(old, new, strict=False)
    at = next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(old), len(new)))
    start = max(0, at - 20)
    return f"at byte {at}: {old[start : at + 40]!r} -> {new[start : at + 40]!r}"


def main(arguments: list[str]) -> int:
    """Print what two packages differ in. Returns 0 where nothing does, else 1."""
    if len(arguments) != 2:
        print("usage: python -m tests.package_diff BEFORE AFTER", file=sys.stderr)
        return 2
    found = diff(*map(Path, arguments))
    print(found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
