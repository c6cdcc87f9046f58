"""The tool that says whether anything was lost must itself notice every loss."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from tests import foreign, package_diff
from tests.foreign import FOREIGN
from tests.package import Package
from tests.package_diff import assert_kept, diff

Parts = dict[str, bytes]
SHEET1 = "xl/worksheets/sheet1.xml"


def unpacked(path: Path) -> Parts:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: Parts) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def edited(parts: Parts, *edits: tuple[str, str, str]) -> bytes:
    """Replace text that stands once in a part."""
    new = dict(parts)
    for part, old, text in edits:
        assert new[part].count(old.encode()) == 1, (part, old)
        new[part] = new[part].replace(old.encode(), text.encode())
    return packed(new)


@pytest.mark.parametrize(("name", "make"), FOREIGN)
def test_diff__the_same_in_another_zip(
    tmp_path: Path, name: str, make: Callable[[Path], Path]
) -> None:
    path = make(tmp_path)
    again = packed(dict(reversed(unpacked(path).items())))
    assert not diff(path, again), name
    assert str(diff(path, again)) == "no difference"
    assert_kept(path, again)


@pytest.mark.parametrize(("name", "make"), FOREIGN)
def test_assert_kept__any_part_that_is_gone(
    tmp_path: Path, name: str, make: Callable[[Path], Path]
) -> None:
    path = make(tmp_path)
    parts = unpacked(path)
    for part in list(parts)[:40]:
        if part.endswith((".rels", "workbook.xml", "[Content_Types].xml")):
            continue  # a package without these is no workbook: the cases below damage them
        fewer = {other: data for other, data in parts.items() if other != part}
        with pytest.raises(AssertionError, match=f"- part {part}"):
            assert_kept(path, packed(fewer))


LOSSES = [
    # made by, (part, what stood there, what stands there now) …, what is said
    (foreign.rich_text, "xl/sharedStrings.xml", "bold</t>", "bald</t>", r"bold.*bald"),
    (foreign.hidden_tabs, "xl/workbook.xml", ' state="veryHidden"', "", r"<sheets> entry 2"),
    (foreign.hidden_tabs, "xl/workbook.xml", 'name="Hidden"', 'name="Shown"', "entry 1"),
    (
        foreign.defined_names,
        "xl/workbook.xml",
        '<definedName name="Rate">0.5</definedName>',
        "",
        "definedNames> lost .*Rate",
    ),
    (
        foreign.defined_names,
        "xl/workbook.xml",
        "First!$B$2:$B$7",
        "First!$B$2:$B$8",
        "lost .*Tokens",
    ),
    (
        foreign.rich_text,
        "xl/styles.xml",
        "<font><strike/>",
        "<font><b/></font><font><strike/>",
        r"<fonts> entry \d",
    ),
    (foreign.looks, "xl/styles.xml", "FFFF0000", "FFFF0001", r"<dxfs> entry 0"),
    (foreign.charts, SHEET1, "<drawing ", "<drawing  ", "sheet1.xml: at byte"),
    (
        foreign.charts,
        "xl/drawings/_rels/drawing1.xml.rels",
        "../charts/chart2.xml",
        "../charts/chart1.xml",
        "drawing1.xml#rId2",
    ),
    (
        foreign.charts,
        "[Content_Types].xml",
        (
            '<Override PartName="/xl/charts/chart1.xml" ContentType="application/vnd.openxmlformats'
            '-officedocument.drawingml.chart+xml"/>'
        ),
        "",
        "- xl/charts/chart1.xml",
    ),
    (
        foreign.properties,
        "xl/_rels/workbook.xml.rels",
        "relationships/theme",
        "relationships/team",
        "workbook.xml#rId2",
    ),
]


@pytest.mark.parametrize(("make", "part", "old", "new", "said"), LOSSES)
def test_assert_kept__a_loss(
    tmp_path: Path, make: Callable[[Path], Path], part: str, old: str, new: str, said: str
) -> None:
    path = make(tmp_path)
    with pytest.raises(AssertionError, match=said):
        assert_kept(path, edited(unpacked(path), (part, old, new)))


def test_extensions__one_lost(tmp_path: Path) -> None:
    path = foreign.x14_validations(tmp_path)
    parts = unpacked(path)
    start = parts[SHEET1].index(b"<extLst>")
    parts[SHEET1] = parts[SHEET1][:start] + b"</worksheet>"
    found = diff(path, packed(parts))
    (change,) = found.extensions
    assert "CCE6A557" in change.what
    assert (change.before, change.after) == (1, None)
    assert found.parts_changed == (SHEET1,)


# What a graft does to a workbook by XlsxWriter: a tab at the end, with a style of its own.
GRAFT = {
    "content type": (
        "[Content_Types].xml",
        "</Types>",
        (
            '<Override PartName="/xl/worksheets/ours.xml" ContentType="application/vnd'
            '.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
        ),
    ),
    "relationship": (
        "xl/_rels/workbook.xml.rels",
        "</Relationships>",
        (
            '<Relationship Id="ours" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
            'relationships/worksheet" Target="worksheets/ours.xml"/></Relationships>'
        ),
    ),
    "sheet": (
        "xl/workbook.xml",
        "</sheets>",
        '<sheet name="Ours" sheetId="99" r:id="ours"/></sheets>',
    ),
    "style": ("xl/styles.xml", "</cellXfs>", '<xf numFmtId="49" applyNumberFormat="1"/></cellXfs>'),
}
OURS = b"""<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="inlineStr" s="1"><is><t>hello</t></is></c></row></sheetData></worksheet>"""


def test_assert_kept__a_tab_more(tmp_path: Path) -> None:
    path = foreign.defined_names(tmp_path)
    parts = unpacked(path) | {"xl/worksheets/ours.xml": OURS}
    found = assert_kept(path, edited(parts, *GRAFT.values()))
    assert found.parts_added == ("xl/worksheets/ours.xml",)
    assert [change.what for change in found.sheets] == ["tab 'Ours'"]
    (cell,) = found.cells("Ours")
    assert cell.what == "A1"
    assert "hello" in str(cell)


@pytest.mark.parametrize(
    ("without", "said"),
    [
        ("relationship", "ours.xml: no relationship leads to it"),
        # the ending .xml has a default type, so the tab would be read as something else
        ("content type", None),
    ],
)
def test_assert_kept__a_tab_that_nobody_finds(
    tmp_path: Path, without: str, said: str | None
) -> None:
    path = foreign.defined_names(tmp_path)
    parts = unpacked(path) | {"xl/worksheets/ours.xml": OURS}
    edits = [edit for name, edit in GRAFT.items() if name != without]
    if said is None:
        edits.append(("[Content_Types].xml", '<Default Extension="xml"', '<Default Extension="ml"'))
    with pytest.raises(AssertionError, match=said or "without a content type"):
        assert_kept(path, edited(parts, *edits))


def test_assert_kept__a_tab_without_its_style(tmp_path: Path) -> None:
    path = foreign.defined_names(tmp_path)
    parts = unpacked(path) | {"xl/worksheets/ours.xml": OURS}
    edits = [edit for name, edit in GRAFT.items() if name != "style"]
    with pytest.raises(AssertionError, match="'Ours' A1 points to style 1 of 1"):
        assert_kept(path, edited(parts, *edits))


def test_assert_kept__a_tab_in_front(tmp_path: Path) -> None:
    path = foreign.defined_names(tmp_path)
    parts = unpacked(path) | {"xl/worksheets/ours.xml": OURS}
    first = ("xl/workbook.xml", "<sheets>", '<sheets><sheet name="Ours" sheetId="99" r:id="ours"/>')
    with pytest.raises(AssertionError, match="<sheets> entry 0"):
        assert_kept(path, edited(parts, *(GRAFT | {"sheet": first}).values()))


def test_assert_kept__excepted_tab_and_its_own_parts(tmp_path: Path) -> None:
    path = foreign.charts(tmp_path)
    parts = unpacked(path)
    ours = edited(
        parts,
        (SHEET1, "<v>493</v>", "<v>400</v>"),
        ("xl/charts/chart1.xml", "<c:v>493</c:v>", "<c:v>400</c:v>"),
    )
    with pytest.raises(AssertionError, match="chart1"):
        assert_kept(path, ours)
    assert_kept(path, ours, except_tabs=["Numbers"])
    assert_kept(path, ours, except_parts=["xl/charts/*", SHEET1])
    theirs = edited(parts, ("xl/charts/chart3.xml", "<c:v>493</c:v>", "<c:v>400</c:v>"))
    with pytest.raises(AssertionError, match="chart3"):
        assert_kept(path, theirs, except_tabs=["Numbers"])


def test_cells__values_and_looks(tmp_path: Path) -> None:
    path = foreign.rich_text(tmp_path)
    parts = unpacked(path)
    struck = edited(parts, ("xl/styles.xml", "<strike/>", ""))
    assert [change.what for change in diff(path, struck).cells("Rich")] == ["A3"]
    value = edited(parts, (SHEET1, "<v>50</v>", "<v>51</v>"))
    assert [change.what for change in diff(path, value).cells("Rich")] == ["A3"]
    runs = edited(parts, ("xl/sharedStrings.xml", "<rPr><strike/>", "<rPr>"))
    assert [change.what for change in diff(path, runs).cells("Rich")] == ["A2"]
    assert diff(path, value).cells("No such tab") == ()


def test_cells__inline_and_shared_text_are_equal(tmp_path: Path) -> None:
    inline = foreign.inline_strings(tmp_path)
    book = openpyxl.load_workbook(inline)  # writes shared strings
    shared = tmp_path / "shared.xlsx"
    book.save(shared)
    contents = [
        {a: (c.kind, c.value) for a, c in p.cells("Inline").items()}
        for p in (Package(inline), Package(shared))
    ]
    assert contents[0] == contents[1]
    assert contents[0]["A1"] == ("text", "Round")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (foreign.text_boxes, "- part xl/drawings/drawing1.xml"),
        (foreign.sparklines, "sheet1.xml"),
        (foreign.x14_validations, "sheet1.xml"),
        (foreign.rich_text, "A1"),
        (foreign.dynamic_arrays, "- part xl/metadata.xml"),
    ],
)
def test_assert_kept__what_openpyxl_loses(
    tmp_path: Path, make: Callable[[Path], Path], said: str
) -> None:
    path = make(tmp_path)
    saved = tmp_path / "saved.xlsx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says itself that it drops extensions
        openpyxl.load_workbook(path).save(saved)
    with pytest.raises(AssertionError, match=said):
        assert_kept(path, saved)


def test_main__by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = foreign.rich_text(tmp_path)
    other = tmp_path / "other.xlsx"
    other.write_bytes(edited(unpacked(path), (SHEET1, "<v>50</v>", "<v>51</v>")))
    assert package_diff.main([str(path), str(path)]) == 0
    assert capsys.readouterr().out == "no difference\n"
    assert package_diff.main([str(path), str(other)]) == 1
    out = capsys.readouterr().out
    assert "~ part xl/worksheets/sheet1.xml" in out
    assert "'Rich' ~ A3" in out
    assert package_diff.main([str(path)]) == 2


def test_assert_kept__over_the_corpus(corpus: Path) -> None:
    seen = 0
    for path in sorted(corpus.glob("*.xlsx")):
        if not zipfile.is_zipfile(path):
            continue
        seen += 1
        assert_kept(path, path.read_bytes())
        for sheet in Package(path).sheets:
            assert sheet.part, (path.name, sheet)
    assert seen
