"""Tabs come into a living workbook, and nothing else in it changes."""

from __future__ import annotations

import dataclasses
import io
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.grid import (
    Area,
    Chart,
    Content,
    Link,
    Looks,
    OneOf,
    Series,
    Style,
    Styled,
    Tab,
    same_contents,
)
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.blank import blank
from sheets_host.stores.excel.grafting import graft
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.reading import read_grids
from sheets_host.stores.excel.repacking import rewrite
from sheets_host.stores.excel.rows import xstring
from sheets_host.stores.excel.splicing import apply, outline
from tests import package_diff
from tests.drawn import HEAD, HELP, REPORT, tab
from tests.foreign import FOREIGN, OFFICE_FOREIGN
from tests.office import Office

WORKBOOK: Final = "xl/workbook.xml"


def opened(data: bytes) -> Package:
    return Package.open(data, "game.xlsx")


def new(*tabs: Tab) -> bytes:
    return graft(blank(tabs[0].title, "game.xlsx", ".xlsx"), tabs, fresh=True)


def part(data: bytes, name: str) -> str:
    return opened(data).part(name).decode()


def sheet_part(data: bytes, title: str) -> str:
    return next(sheet.part for sheet in opened(data).sheets if sheet.title == title)


def sheet(data: bytes, title: str) -> str:
    return part(data, sheet_part(data, title))


def edited(data: bytes, name: str, old: str, replacement: str) -> bytes:
    """The package with one piece of one part's markup replaced, as another program might."""
    before = part(data, name)
    assert old in before
    return rewrite(opened(data), {name: before.replace(old, replacement, 1).encode()})


def stands(data: bytes, drawn: Tab) -> bool:
    return same_contents(drawn, read_grids(opened(data), [drawn.title])[1][drawn.title])


# --- nothing else changes ----------------------------------------------------------------------


def check_kept(before: bytes) -> None:
    """Graft into a workbook, then again over that, and compare all that is not ours."""
    titles = [each.title for each in opened(before).sheets]
    once = graft(opened(before), [REPORT, HELP])
    package_diff.assert_kept(before, once)
    assert [each.title for each in opened(once).sheets] == [*titles, REPORT.title, HELP.title]
    assert stands(once, REPORT)
    assert stands(once, HELP)
    shorter = dataclasses.replace(REPORT, rows=REPORT.rows[:5])
    twice = graft(opened(once), [shorter])
    ours = [REPORT.title, HELP.title]
    package_diff.assert_kept(before, twice, except_tabs=ours, except_parts=["xl/calcChain.xml"])
    assert stands(twice, shorter)
    assert graft(opened(twice), [shorter]) == twice


@pytest.mark.parametrize(("_name", "make"), FOREIGN, ids=[name for name, _ in FOREIGN])
def test_graft__foreign_workbook_keeps_every_part(
    _name: str, make: Callable[[Path], Path], tmp_path: Path
) -> None:
    check_kept(make(tmp_path).read_bytes())


@pytest.mark.office
@pytest.mark.parametrize(
    ("_name", "make"), OFFICE_FOREIGN, ids=[name for name, _ in OFFICE_FOREIGN]
)
def test_graft__libreoffice_workbook_keeps_every_part(
    _name: str, make: Callable[[Office, Path], Path], office: Office, tmp_path: Path
) -> None:
    check_kept(make(office, tmp_path).read_bytes())


REFUSED: Final = {
    "poi__SampleSS.strict.xlsx": "Strict",
    "poi__hello-world-signed.xlsx": "signed",
    "calamine__pass_protected.xlsx": "password",
    "python-calamine__empty_file.xlsx": "empty",
}


def test_graft__corpus_keeps_every_part_or_is_refused(corpus: Path) -> None:
    refused = {}
    files = sorted(corpus.glob("*.xlsx"))
    assert len(files) > 10
    for file in files:
        try:
            check_kept(file.read_bytes())
        except StoreError as error:
            refused[file.name] = error.message
    assert refused.keys() == REFUSED.keys()
    for name, reason in REFUSED.items():
        assert reason in refused[name]


def test_graft__macro_workbook_keeps_its_kind() -> None:
    made = blank("Game help", "game.xlsm", ".xlsm")
    package = opened(graft(made, [HELP], fresh=True))
    kind = "application/vnd.ms-excel.sheet.macroEnabled.main+xml"
    assert package.content_types.of(package.workbook) == kind


def test_graft__same_input_same_bytes() -> None:
    assert new(REPORT, HELP) == new(REPORT, HELP)


def test_graft__fifty_rewrites_leave_size_and_formats(tmp_path: Path) -> None:
    first = graft(opened(dict(FOREIGN)["looks"](tmp_path).read_bytes()), [REPORT, HELP])
    styles = part(first, "xl/styles.xml")
    data = first
    for number in range(50):
        data = graft(opened(data), [dataclasses.replace(REPORT, rows=[["x" * (number % 3)]])])
        data = graft(opened(data), [REPORT])
    assert part(data, "xl/styles.xml") == styles
    assert data == first


# --- what comes in -----------------------------------------------------------------------------


def test_graft__openpyxl_sees_every_look() -> None:
    from openpyxl import load_workbook

    book: Any = load_workbook(io.BytesIO(new(REPORT, HELP)))
    found = book[REPORT.title]
    assert found.freeze_panes == "B5"
    assert found.column_dimensions["D"].width == 24
    assert found.row_dimensions[1].height == 30
    assert found["A4"].font.b
    assert found["A4"].font.color.rgb == "FF112233"
    assert found["A4"].fill.fgColor.rgb == "FFDDEEFF"
    assert found["A4"].border.bottom.style == "thin"
    assert found["A9"].number_format == "@"
    assert found["B5"].number_format == '0 "points"'
    assert found["B5"].alignment.horizontal == "right"
    assert [str(area) for area in found.merged_cells.ranges] == ["A1:D1"]
    assert found.auto_filter.ref == "A4:D7"
    assert found.print_title_rows == "$4:$4"
    assert found.page_setup.orientation == "landscape"
    assert found.sheet_properties.pageSetUpPr.fitToPage
    assert found.sheet_properties.tabColor.rgb == "FFAA0000"
    assert found.protection.sheet
    assert not found.protection.formatColumns
    assert not found.protection.autoFilter
    assert not found.protection.password
    assert found["D5"].hyperlink.location == "'Game help'!B2"
    assert len(found._charts) == 1
    rules = [rule for each in found.conditional_formatting for rule in each.rules]
    assert sorted((rule.priority, rule.type) for rule in rules) == [
        (1, "dataBar"),
        (2, "expression"),
        (3, "expression"),
    ]
    checks = found.data_validations.dataValidation
    assert [(each.type, each.formula1, each.errorStyle) for each in checks] == [
        ("whole", "0", "warning"),
        ("list", '"yes,no"', "warning"),
        ("list", "$A$5:$A$9", "warning"),
    ]
    assert book.active.title == REPORT.title
    assert not book[HELP.title].sheet_view.tabSelected


@pytest.mark.office
def test_graft__libreoffice_sees_values_checks_and_colours(office: Office, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(new(REPORT, HELP))
    with office.open(path) as doc:
        assert doc.sheets() == [REPORT.title, HELP.title]
        assert doc.values(REPORT.title, "A5:C7") == [
            ["Ann", 5, 10],
            ["=1+1", 12, "late"],
            ["a & b <c>", 0, None],
        ]
        assert doc.errors() == []
        assert doc.frozen(REPORT.title) == (4, 1)
        assert (doc.background(REPORT.title, "A6") or "").upper().endswith("FFFF00")
        assert not (doc.background(REPORT.title, "A7") or "").upper().endswith("FFFF00")


@pytest.mark.parametrize(
    ("kind", "stacked", "wanted"),
    [
        ("line", False, ("lineChart", "standard", None)),
        ("column", False, ("barChart", "clustered", "col")),
        ("column", True, ("barChart", "stacked", "col")),
        ("bar", True, ("barChart", "stacked", "bar")),
    ],
)
def test_graft__charts_of_every_kind(
    kind: str, stacked: bool, wanted: tuple[str, str, str | None]
) -> None:
    from openpyxl import load_workbook

    places = [(Area(5, n, 9, n), (4, n)) for n in range(2, 22)]
    series = tuple(Series(name, values) for values, name in places)
    chart = Chart(kind, "<&>", "x", "y", Area.of("A5:A9"), series, (12, 1), stacked=stacked)
    drawn = tab("it's a tab", ["x"], looks=Looks(charts=(chart, chart)))
    book: Any = load_workbook(io.BytesIO(new(drawn)))
    first, _second = book["it's a tab"]._charts
    assert (first.tagname, first.grouping, getattr(first, "barDir", None)) == wanted
    assert first.series[19].val.numRef.f == "'it''s a tab'!$U$5:$U$9"
    assert first.series[19].tx.strRef.f == "'it''s a tab'!$U$4"
    assert first.series[19].cat.strRef.f == "'it''s a tab'!$A$5:$A$9"
    looks = {repr(each.spPr) for each in first.series}  # openpyxl's repr shows all of it
    assert len(looks) == (20 if kind == "line" else 8)


def test_graft__chart_that_is_there_is_not_drawn_again() -> None:
    data = new(REPORT)
    after = graft(opened(data), [dataclasses.replace(REPORT, rows=[["new"]])])
    assert [each for each in opened(after).names if "chart" in each] == ["xl/charts/chart1.xml"]


def test_graft__chart_comes_to_a_tab_that_had_none() -> None:
    bare = dataclasses.replace(REPORT, looks=dataclasses.replace(REPORT.looks, charts=()))
    after = graft(opened(new(bare, HELP)), [REPORT])
    assert sheet(after, REPORT.title).count("<drawing ") == 1
    assert graft(opened(after), [REPORT]) == after


def test_graft__default_font_of_the_workbook_is_kept() -> None:
    data = edited(new(HELP), "xl/styles.xml", 'val="Calibri"', 'val="Fira &amp; Söhne"')
    styles = part(graft(opened(data), [REPORT]), "xl/styles.xml")
    assert re.search(
        r'<font><b/><sz val="11"/><color rgb="FF112233"/><name val="Fira &amp; S&#246;hne"/>'
        r'<family val="2"/></font>',
        styles,
    )


def test_refused__ordinary_font_that_is_struck_out() -> None:
    data = edited(new(HELP), "xl/styles.xml", '<sz val="11"/>', '<strike/><sz val="11"/>')
    with pytest.raises(StoreError, match="ordinary font is struck out"):
        graft(opened(data), [REPORT])
    graft(opened(edited(data, "xl/styles.xml", "<strike/>", '<strike val="0"/>')), [REPORT])


def test_new__relationships_are_declared_where_each_was_named_alone() -> None:
    data = new(HELP)
    kind = "application/vnd.openxmlformats-package.relationships+xml"
    data = edited(
        data, "[Content_Types].xml", f'<Default Extension="rels" ContentType="{kind}"/>', ""
    )
    package = opened(graft(opened(data), [REPORT]))
    links = [name for name in package.names if name.startswith("xl/worksheets/_rels/")]
    assert links
    assert {package.content_types.of(name) for name in links} == {kind}
    types = package.part("[Content_Types].xml")
    assert types.count(b'Extension="rels"') == 1


def test_refused__names_of_the_workbook_in_two_ways() -> None:
    wrapped = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        '<mc:Choice Requires="x15"><definedNames><definedName name="a">1</definedName>'
        "</definedNames></mc:Choice></mc:AlternateContent></workbook>"
    )
    data = edited(new(HELP), WORKBOOK, "</workbook>", wrapped)
    with pytest.raises(StoreError, match="the list of tabs or of names"):
        graft(opened(data), [REPORT])


def test_graft__too_long_drop_down_is_left_out() -> None:
    check = OneOf(Area.of("A1"), tuple(f"player number {n}" for n in range(40)), "t", "m")
    data = new(tab("T", ["x"], looks=Looks(checks=(check,))))
    assert "dataValidation" not in sheet(data, "T")


def test_graft__two_hundred_styles_are_each_found_again() -> None:
    styles = [
        Styled(Area(row, 1, row, 1), Style(ink=f"{row:06X}", size=8 + row % 5, bold=row % 2 == 0))
        for row in range(1, 201)
    ]
    drawn = tab("T", *[[row] for row in range(1, 201)], looks=Looks(styles=tuple(styles)))
    data = new(drawn)
    assert 'cellXfs count="201"' in part(data, "xl/styles.xml")
    assert graft(opened(data), [drawn]) == data


def test_graft__later_style_stands_where_two_overlap() -> None:
    from openpyxl import load_workbook

    looks = Looks(
        styles=(
            Styled(Area.of("A1:C3"), Style(fill="111111")),
            Styled(Area.of("B2:B9"), Style(fill="222222")),
            Styled(Area.of("B3"), Style()),
        )
    )
    found = load_workbook(io.BytesIO(new(tab("T", ["x"], looks=looks))))["T"]
    fills = [[found.cell(r, c).fill.fgColor.rgb[2:] for c in (1, 2, 3)] for r in (1, 2, 3, 9)]
    assert fills == [
        ["111111"] * 3,
        ["111111", "222222", "111111"],
        ["111111", "000000", "111111"],
        ["000000", "222222", "000000"],
    ]


@pytest.mark.office
def test_graft__after_libreoffice_saved_the_workbook(office: Office, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(new(REPORT, tab("Entries", ["Ann", None]), HELP))
    with office.open(path) as doc:
        doc.type("Entries", "B1", "41")
        doc.type("Entries", "C1", "=$'Game report'.B5+0*NOW()")
        doc.save()
    before = path.read_bytes()
    later = dataclasses.replace(REPORT, rows=[*REPORT.rows[:4], ["Ann", 77], ["Ünal", 3]])
    after = graft(opened(before), [later])
    package_diff.assert_kept(before, after, except_tabs=[REPORT.title])
    assert graft(opened(after), [later]) == after
    path.write_bytes(after)
    with office.open(path) as doc:
        assert doc.values(REPORT.title, "A5:B6") == [["Ann", 77], ["Ünal", 3]]
        assert doc.values("Entries", "B1:C1") == [[41, 77]]
        assert (doc.background(REPORT.title, "A5") or "").upper().endswith("FFFF00")


# --- text is text ------------------------------------------------------------------------------

TEXTS: Final = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    '=HYPERLINK("http://example.org","x")',
    " spaced ",
    "two  spaces",
    "line\nbreak",
    "carriage\r\nreturn",
    "tab\tstop",
    "control \x00\x01\x1f",
    "_x0041_",
    "_x005F_",
    "__x0041_",
    "_x00",
    "a & b <c> \"d\" 'e'",
    "]]>",
    "&amp;",
    "𝄞 clef, ü, 競",
    "\ufffe\uffff",
    "1e5",
    "007",
    "TRUE",
    "#REF!",
    "x" * 32_767,
)


def text_at(data: bytes, title: str, row: int) -> tuple[object, str | None]:
    cell = read_grids(opened(data), [title])[1][title].at(row, 1)
    return cell.value, cell.formula


def test_text__comes_back_as_it_was() -> None:
    data = new(tab("T", *[[text] for text in TEXTS]))
    for row, text in enumerate(TEXTS, 1):
        assert text_at(data, "T", row) == (text, None)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_text__any_text_comes_back(text: str) -> None:
    data = new(tab("T", [text]))
    assert text_at(data, "T", 1) == (text, None)


def test_text__half_a_surrogate_pair_is_replaced() -> None:
    assert text_at(new(tab("T", ["a\ud800b"])), "T", 1) == ("a\ufffdb", None)


def test_text__hostile_names_in_every_place() -> None:
    name = "<&\"'_x0041_ü𝄞\x01"
    looks = Looks(checks=(OneOf(Area.of("A1"), (name,), name, name * 60),))
    data = new(tab("T", [name, Link(name, "it's <&> here", "A1")], looks=looks))
    assert text_at(data, "T", 1) == (name, None)
    from openpyxl import load_workbook

    link = load_workbook(io.BytesIO(data))["T"]["B1"].hyperlink
    assert link.location == "'it''s <&> here'!A1"


def test_text__longer_than_a_cell_is_refused_with_its_place() -> None:
    with pytest.raises(StoreError, match=r"T!B2 .* 32,768"):
        new(tab("T", [], [None, "x" * 32_768]))


def test_xstring__escapes_of_the_standard() -> None:
    # ECMA-376 part 1, 22.9.2.19
    assert xstring("_x0008_") == "_x005F_x0008_"
    assert xstring("\x08") == "_x0008_"
    assert xstring("_x000_") == "_x000_"


# --- tabs that are there -----------------------------------------------------------------------


def test_replace__what_the_host_put_on_the_tab_stays() -> None:
    data = new(REPORT, HELP)
    name = sheet_part(data, REPORT.title)
    before = part(data, name)
    data = edited(data, name, 'width="24"', 'width="50"')
    data = edited(data, name, "</worksheet>", "<extLst><ext uri='{x}'/></extLst></worksheet>")
    data = edited(data, name, "<sheetProtection ", "<!-- host --><sheetProtection ")
    after = sheet(graft(opened(data), [dataclasses.replace(REPORT, rows=[["new"]])]), REPORT.title)
    assert 'width="50"' in after
    assert "<ext uri='{x}'/>" in after
    assert "<!-- host -->" in after
    assert re.findall("<drawing[^>]*>", after) == re.findall("<drawing[^>]*>", before)
    assert after.count("<sheetData>") == 1
    assert "Ann" not in after


def test_replace__checks_and_rules_follow_the_tab() -> None:
    data = new(REPORT, HELP)
    bare = dataclasses.replace(REPORT, looks=Looks(merges=(Area.of("B1:C1"),)))
    after = sheet(graft(opened(data), [bare]), REPORT.title)
    assert "conditionalFormatting" not in after
    assert "dataValidation" not in after
    assert "<autoFilter" not in after
    assert '<mergeCells count="1"><mergeCell ref="B1:C1"/></mergeCells>' in after
    assert "_FilterDatabase" not in part(graft(opened(data), [bare]), WORKBOOK)
    again = graft(opened(graft(opened(data), [bare])), [REPORT])
    assert stands(again, REPORT)
    assert sheet(again, REPORT.title).count("<conditionalFormatting") == 2


def test_replace__what_newer_programs_add_to_colours_goes_with_them() -> None:
    twin = '<ext uri="{78C0D931-6437-407d-A8EE-F0AAD7539E65}"><q xmlns="urn:x14"/></ext>'
    other = '<ext uri="{x}"/>'
    for extensions, left in ((twin, ""), (twin + other, f"<extLst>{other}</extLst>")):
        data = new(REPORT)
        markup = f"<extLst>{extensions}</extLst></worksheet>"
        data = edited(data, sheet_part(data, REPORT.title), "</worksheet>", markup)
        changed = graft(opened(data), [dataclasses.replace(REPORT, rows=[["new"]])])
        after = sheet(changed, REPORT.title)
        assert "urn:x14" not in after
        assert "".join(re.findall("<extLst>.*</extLst>", after)) == left


SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
LEFT_BEHIND = {
    "a content type": (
        "[Content_Types].xml",
        "</Types>",
        f'<Override PartName="/XL/worksheets/Sheet3.xml" ContentType="{SHEET_TYPE}"/></Types>',
    ),
    "a relationship": (
        "xl/_rels/workbook.xml.rels",
        "</Relationships>",
        '<Relationship Id="rId99" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/worksheet" Target="/xl/worksheets/sheet3.xml"/></Relationships>',
    ),
}


@pytest.mark.parametrize("case", LEFT_BEHIND)
def test_new__takes_no_name_that_a_part_which_is_gone_has_left(case: str) -> None:
    data = edited(new(REPORT, HELP), *LEFT_BEHIND[case])
    assert opened(data).sheets[1].part == "xl/worksheets/sheet2.xml"
    grafted = opened(graft(opened(data), [dataclasses.replace(REPORT, title="Third")]))
    assert grafted.sheets[2].part == "xl/worksheets/sheet4.xml"
    types = grafted.part("[Content_Types].xml").decode().casefold()
    names = re.findall('partname="([^"]*)"', types)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("theirs", "ours"), [("7", 8), ("65533", 65_534), ("65534", 2), ("4294967295", 2)]
)
def test_new__tab_gets_an_id_that_excel_can_open(theirs: str, ours: int) -> None:
    data = edited(new(HELP, REPORT), WORKBOOK, 'sheetId="2"', f'sheetId="{theirs}"')
    grafted = opened(graft(opened(data), [dataclasses.replace(REPORT, title="Third")]))
    assert [sheet.sheet_id for sheet in grafted.sheets] == [1, int(theirs), ours]


def test_replace__a_chart_that_is_gone_stops_nothing(tmp_path: Path) -> None:
    data = new(REPORT)
    chart = next(name for name in opened(data).names if "charts/" in name)
    gone = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(gone, "w") as target:
        for info in source.infolist():
            if info.filename != chart:
                target.writestr(info, source.read(info))
    tab = dataclasses.replace(REPORT, rows=[["changed"], *REPORT.rows[1:]])
    assert stands(graft(opened(gone.getvalue()), [tab]), tab)


def test_replace__chain_of_formulas_goes_only_where_a_formula_went(tmp_path: Path) -> None:
    chain = "xl/calcChain.xml"
    data = new(REPORT, HELP)
    types = "[Content_Types].xml"
    data = edited(
        data,
        types,
        "</Types>",
        f'<Override PartName="/{chain}" ContentType="application/vnd.openxmlformats-officedocument'
        '.spreadsheetml.calcChain+xml"/></Types>',
    )
    rels = "xl/_rels/workbook.xml.rels"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/calcChain"
    link = f'<Relationship Id="rId77" Type="{kind}" Target="calcChain.xml"/></Relationships>'
    data = edited(data, rels, "</Relationships>", link)
    data = rewrite(opened(data), {chain: b"<calcChain/>"})

    kept = opened(graft(opened(data), [dataclasses.replace(HELP, rows=[["changed"]])]))
    assert kept.has(chain)
    gone = opened(graft(opened(data), [dataclasses.replace(REPORT, rows=[["changed"]])]))
    assert not gone.has(chain)
    assert "calcChain" not in gone.part(rels).decode()
    assert "calcChain" not in gone.part(types).decode()


@pytest.mark.parametrize(
    ("old", "new_markup"),
    [
        ('<calcPr fullCalcOnLoad="1"/>', '<calcPr calcId="191029" calcMode="manual"/>'),
        ('<calcPr fullCalcOnLoad="1"/>', "<calcPr fullCalcOnLoad='0' calcId='1'></calcPr>"),
        ('<calcPr fullCalcOnLoad="1"/>', "<extLst/>"),
    ],
)
def test_replace__workbook_recalculates_on_opening(old: str, new_markup: str) -> None:
    data = edited(new(HELP), WORKBOOK, old, new_markup)
    after = part(graft(opened(data), [REPORT]), WORKBOOK)
    assert len(re.findall(r"<calcPr[^>]* fullCalcOnLoad=.1.", after)) == 1
    if "extLst" in after:
        assert after.index("calcPr") < after.index("extLst")


def prefixed(data: bytes) -> bytes:
    """The package with a prefix on the main namespace in every part, as ClosedXML writes it."""
    package = opened(data)
    changed = {}
    for name in (WORKBOOK, "xl/styles.xml", "xl/worksheets/sheet1.xml"):
        text = package.part(name).decode()
        text = re.sub(r"<(/?)(?=[A-Za-z])", r"<\1x:", text).replace(" xmlns=", " xmlns:x=")
        changed[name] = text.encode()
    return rewrite(package, changed)


def test_replace__prefix_on_the_main_namespace() -> None:
    data = prefixed(new(HELP))
    after = graft(opened(data), [REPORT, dataclasses.replace(HELP, rows=[["again", 1]])])
    assert stands(after, REPORT)
    assert "<x:sheetData><x:row" in sheet(after, HELP.title)
    assert stands(after, dataclasses.replace(HELP, rows=[["again", 1]]))


def test_replace__byte_order_mark_and_odd_spacing() -> None:
    data = new(HELP)
    package = opened(data)
    changed = {
        name: b"\xef\xbb\xbf" + package.part(name).replace(b"<sheet ", b"<sheet\n\t")
        for name in package.names
        if name.endswith(".xml")
    }
    after = graft(opened(rewrite(package, changed)), [REPORT, HELP])
    assert stands(after, REPORT)


@pytest.mark.parametrize(
    ("old", "look_alike"),
    [
        ("<sheetData>", "<!-- <sheetData> --><sheetData>"),
        ("</sheetData>", "</sheetData><!-- </sheetData> -->"),
    ],
)
def test_replace__look_alike_in_a_comment_stays(old: str, look_alike: str) -> None:
    data = new(HELP)
    strange = edited(data, sheet_part(data, HELP.title), old, look_alike)
    after = graft(opened(strange), [dataclasses.replace(HELP, rows=[["new"]])])
    assert stands(after, dataclasses.replace(HELP, rows=[["new"]]))
    comment = "<!-- " + old + " -->"
    assert comment in sheet(after, HELP.title)


# --- refused -----------------------------------------------------------------------------------


def test_refused__tab_turned_into_a_table(tmp_path: Path) -> None:
    data = dict(FOREIGN)["tables"](tmp_path).read_bytes()
    package = opened(data)
    title = next(each.title for each in package.sheets if package.related(each.part, "table"))
    with pytest.raises(StoreError, match="table") as raised:
        graft(package, [tab(title, ["x"])])
    assert "Convert to Range" in raised.value.hint


def test_refused__tab_whose_name_differs_in_case() -> None:
    with pytest.raises(StoreError, match="game HELP"):
        graft(opened(new(tab("game HELP", ["x"]))), [HELP])


def test_refused__chart_sheet_in_the_tabs_place(tmp_path: Path) -> None:
    package = opened(dict(FOREIGN)["charts"](tmp_path).read_bytes())
    title = next(each.title for each in package.sheets if each.kind == "chartsheet")
    with pytest.raises(StoreError, match="chartsheet"):
        graft(package, [tab(title, ["x"])])


def test_refused__more_formats_than_excel_opens() -> None:
    data = new(HELP)
    xf = '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    full = edited(data, "xl/styles.xml", xf + "</cellXfs>", xf * 64_000 + "</cellXfs>")
    assert stands(graft(opened(full), [tab("T", ["x"])]), tab("T", ["x"]))
    with pytest.raises(StoreError, match="64,000 cell formats"):
        graft(opened(full), [REPORT])


@pytest.mark.parametrize("cut", ["</fonts>", "<cellXfs", "</styleSheet>", "<sheetData", "<sheets>"])
def test_refused__broken_markup(cut: str) -> None:
    data = new(HELP)
    for name in ("xl/styles.xml", WORKBOOK, sheet_part(data, HELP.title)):
        text = part(data, name)
        if cut in text:
            broken = rewrite(opened(data), {name: text.replace(cut, "", 1).encode()})
            with pytest.raises(StoreError, match=r"damaged|nothing can be added"):
                graft(opened(broken), [REPORT, HELP])


PIECES: Final = re.compile(rb"<[^>]*>|[^<]+")


@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_graft__damaged_parts_are_refused_or_survived(rng: random.Random, faults: int) -> None:
    """Whatever is wrong in a part that is changed: a line that says so, or tabs that stand."""
    package = opened(DAMAGEABLE)
    name = rng.choice([each for each in package.names if "theme" not in each])
    pieces = PIECES.findall(package.part(name))
    for _ in range(faults):
        at = rng.randrange(len(pieces))
        match rng.randrange(4):
            case 0:
                del pieces[at]
            case 1:
                pieces.insert(at, rng.choice(pieces))
            case 2:
                other = rng.randrange(len(pieces))
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case _:
                sign = bytes([rng.choice(b"0aZ\"'<>&/= \x00\xff")])
                place = rng.randrange(len(pieces[at]))
                pieces[at] = pieces[at][:place] + sign + pieces[at][place + 1 :]
        if not pieces:
            break
    damaged = rewrite(package, {name: b"".join(pieces)})
    try:
        after = graft(opened(damaged), [REPORT, dataclasses.replace(HELP, rows=[["new"]])])
    except StoreError as error:
        said = error.message and error.hint
        assert said
    else:
        assert stands(after, REPORT)


DAMAGEABLE: Final = new(REPORT, HELP, tab("Third", [1, "two", Link("three", "Third", "A1")]))


def test_graft__left_behind_relationships_are_not_taken_over() -> None:
    rels = "xl/worksheets/_rels/sheet2.xml.rels"
    data = rewrite(opened(new(HELP)), {rels: opened(new(REPORT)).part("_rels/.rels")})
    after = graft(opened(data), [REPORT])
    assert sheet_part(after, REPORT.title) == "xl/worksheets/sheet3.xml"
    assert stands(after, REPORT)


# --- pieces ------------------------------------------------------------------------------------


def test_outline__offsets_of_every_element() -> None:
    data = b"<?xml version='1.0'?>\n<a><!-- <b> --><b x='>'/><c ><d>1</d >\n</c></a>"
    root = outline(data, "part", "file").root
    assert [data[each.start : each.end] for each in root.children] == [
        b"<b x='>'/>",
        b"<c ><d>1</d >\n</c>",
    ]
    inner = root.children[1].children[0]
    assert data[inner.inner : inner.close] == b"1"


def test_outline__hollow_content_is_skipped() -> None:
    data = b"<a><rows><broken></rows><c/></a>"
    root = outline(data, "part", "file", hollow="rows").root
    assert [data[each.start : each.end] for each in root.children] == [
        b"<rows><broken></rows>",
        b"<c/>",
    ]


def test_insert__empty_element_is_opened() -> None:
    out = outline(b"<x:a><x:b k='1'/></x:a>".replace(b"<x:a", b"<x:a xmlns:x='u'"), "part", "file")
    edit = out.insert(out.root.children[0], b"<x:c/>")
    assert apply(out.data, [edit]).endswith(b"<x:b k='1'><x:c/></x:b></x:a>")


def test_rewrite__untouched_entries_keep_order_and_packed_bytes(tmp_path: Path) -> None:
    path = tmp_path / "odd.zip"
    data = new(HELP)
    with zipfile.ZipFile(path, "w") as odd, zipfile.ZipFile(io.BytesIO(data)) as made:
        odd.writestr("xl/media/ü.png", random.Random(1).randbytes(500), zipfile.ZIP_STORED)
        for name in reversed(made.namelist()):
            # A level of its own, so that packing again would give other bytes.
            odd.writestr(name, made.read(name), zipfile.ZIP_DEFLATED, compresslevel=1)
    before = opened(path.read_bytes())
    after = opened(graft(before, [REPORT]))
    assert after.names[: len(before.names)] == before.names
    for name in ("xl/media/ü.png", "_rels/.rels", sheet_part(data, HELP.title)):
        assert after.packed(name) == before.packed(name)
    with zipfile.ZipFile(io.BytesIO(after.data)) as archive:
        assert archive.testzip() is None


def test_graft__fourteen_thousand_rows_are_quick() -> None:
    import time

    row: list[Content] = ["12", "2026-11-29 20:15", "bid", "1", "Player", "D# quarter", "x", "3f9a"]
    looks = Looks(
        styles=(Styled(Area.of("A1:H1"), HEAD), Styled(Area(2, 1, 14_001, 8), Style(number="@")))
    )
    record = tab("Record", row, *[row] * 14_000, looks=looks)
    base = opened(new(HELP))
    start = time.process_time()
    data = graft(base, [record])
    assert time.process_time() - start < 2  # about 0.15 s; the rest is for slow machines
    assert stands(data, record)
