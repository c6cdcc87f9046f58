"""Reading cells: every form a cell can have in the file, and what it comes to."""

from __future__ import annotations

import re
import tracemalloc

import pytest

from sheets_host.grid import BLANK, Area, Cell, Grid, Kind, Shape, Strike, shape_of
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel import reading, scanning
from sheets_host.stores.excel.formats import BUILT_IN
from sheets_host.stores.excel.formulas import shifted
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.reading import read_grids
from sheets_host.stores.excel.scanning import scan
from sheets_host.stores.excel.texts import unescaped
from tests.packages import MAIN, STYLES, build, link, relationships, sheet, styles

RELATIONS = "xl/worksheets/_rels/sheet1.xml.rels"


def grid_of(data: bytes, title: str = "Bids") -> Grid:
    return read_grids(Package.open(data, "Game.xlsx"), {title})[1][title]


def only_cell(cell: str, *, codes: tuple[str, ...] = (), strings: str = "") -> Cell:
    """Read one cell, A1, from its XML."""
    data = build(
        {"Bids": f'<row r="1">{cell}</row>'},
        strings=strings,
        more={"xl/styles.xml": styles(*codes)},
    )
    return grid_of(data).at(1, 1)


def number(value: float, **more: object) -> Cell:
    return Cell(Kind.NUMBER, value, **more)  # type: ignore[arg-type]


def text(value: str, **more: object) -> Cell:
    return Cell(Kind.TEXT, value, **more)  # type: ignore[arg-type]


def error(value: str, **more: object) -> Cell:
    return Cell(Kind.ERROR, value, **more)  # type: ignore[arg-type]


STRINGS = (
    "<si><t>pass</t></si>"
    '<si><t xml:space="preserve"> 5 </t></si>'
    "<si><r><rPr><strike/></rPr><t>40</t></r><r><rPr><b/></rPr><t> 50</t></r></si>"
    "<si><r><rPr><strike/></rPr><t>40</t></r><r><rPr><strike/></rPr><t>50</t></r></si>"
    '<si><r><rPr><strike val="0"/></rPr><t>40</t></r><r><t>50</t></r></si>'
    '<si><t>七</t><rPh sb="0" eb="1"><t>なな</t></rPh><phoneticPr fontId="1"/></si>'
    "<si><t>a_x000D_b_x0041_</t></si>"
    "<si/>"
    "<si><t></t></si>"
    "<si><r><t>5</t></r><r><rPr><strike/></rPr><t> </t></r></si>"
)

CELLS: dict[str, tuple[str, Cell]] = {
    "a number": ('<c r="A1"><v>50</v></c>', number(50)),
    "a number, said to be one": ('<c r="A1" t="n"><v>50</v></c>', number(50)),
    "space around a number": ('<c r="A1"><v> 50\n</v></c>', number(50)),
    "a fraction": ('<c r="A1"><v>50.5</v></c>', number(50.5)),
    "an exponent": ('<c r="A1"><v>5E-2</v></c>', number(0.05)),
    "negative": ('<c r="A1"><v>-3</v></c>', number(-3)),
    "negative zero": ('<c r="A1"><v>-0</v></c>', number(-0.0)),
    "too large": ('<c r="A1"><v>1e400</v></c>', number(float("inf"))),
    "no number": ('<c r="A1"><v>fifty</v></c>', error("fifty")),
    "nan": ('<c r="A1"><v>nan</v></c>', error("nan")),
    "infinity": ('<c r="A1"><v>INF</v></c>', error("INF")),
    "Python's underscores": ('<c r="A1"><v>5_0</v></c>', error("5_0")),
    "full-width digits": ('<c r="A1"><v>５</v></c>', error("５")),
    "an empty value": ('<c r="A1"><v></v></c>', BLANK),
    "no value": ('<c r="A1"/>', BLANK),
    "a style alone": ('<c r="A1" s="0"/>', BLANK),
    "a style that is not there": ('<c r="A1" s="99"><v>5</v></c>', number(5)),
    "a style that is no number": ('<c r="A1" s="x"><v>5</v></c>', number(5)),
    "true": ('<c r="A1" t="b"><v>1</v></c>', Cell(Kind.BOOLEAN, True)),
    "false": ('<c r="A1" t="b"><v>0</v></c>', Cell(Kind.BOOLEAN, False)),
    "neither": ('<c r="A1" t="b"><v>2</v></c>', error("2")),
    "an error": ('<c r="A1" t="e"><v>#REF!</v></c>', error("#REF!")),
    "a shared text": ('<c r="A1" t="s"><v>0</v></c>', text("pass")),
    "spaces kept": ('<c r="A1" t="s"><v>1</v></c>', text(" 5 ")),
    "struck in part": ('<c r="A1" t="s"><v>2</v></c>', text("40 50", strike=Strike.PART)),
    "struck in all its runs": ('<c r="A1" t="s"><v>3</v></c>', text("4050", strike=Strike.WHOLE)),
    "struck by a value of 0": ('<c r="A1" t="s"><v>4</v></c>', text("4050")),
    "struck in the cell, not in one run": (
        '<c r="A1" s="1" t="s"><v>4</v></c>',
        text("4050", strike=Strike.PART),
    ),
    "struck where nothing shows": ('<c r="A1" t="s"><v>9</v></c>', text("5 ")),
    "furigana": ('<c r="A1" t="s"><v>5</v></c>', text("七")),
    "escapes": ('<c r="A1" t="s"><v>6</v></c>', text("a\rbA")),
    "an empty item": ('<c r="A1" t="s"><v>7</v></c>', BLANK),
    "an empty text": ('<c r="A1" t="s"><v>8</v></c>', BLANK),
    "a text that is not there": ('<c r="A1" t="s"><v>77</v></c>', error("77")),
    "a text of no number": ('<c r="A1" t="s"><v>-1</v></c>', error("-1")),
    "an inline text": ('<c r="A1" t="inlineStr"><is><t>pass</t></is></c>', text("pass")),
    "an inline text in runs": (
        '<c r="A1" t="inlineStr"><is><r><t>4</t></r><r><rPr><strike/></rPr><t>5</t></r></is></c>',
        text("45", strike=Strike.PART),
    ),
    "an inline text with furigana": (
        '<c r="A1" t="inlineStr"><is><t>七</t><rPh sb="0" eb="1"><t>な</t></rPh></is></c>',
        text("七"),
    ),
    "an inline text with an escape": (
        '<c r="A1" t="inlineStr"><is><t>_x0035_</t></is></c>',
        text("5"),
    ),
    "an inline text that is missing": ('<c r="A1" t="inlineStr"/>', BLANK),
    "XML's own escapes": (
        '<c r="A1" t="inlineStr"><is><t>&lt;&amp;&#x31;<![CDATA[<]]></t></is></c>',
        text("<&1<"),
    ),
    "a formula": (
        '<c r="A1"><f>10+5</f><v>15</v></c>',
        number(15, formula="=10+5"),
    ),
    "a formula without a value": (
        '<c r="A1"><f>10+5</f></c>',
        Cell(formula="=10+5", cached=False),
    ),
    "a formula with an empty value": (
        '<c r="A1"><f>10+5</f><v></v></c>',
        Cell(formula="=10+5", cached=False),
    ),
    "a formula that is an empty text": (
        '<c r="A1" t="str"><f>""</f><v></v></c>',
        text("", formula='=""'),
    ),
    "a formula that is a text": (
        '<c r="A1" t="str"><f>"5"</f><v>5_x000A_</v></c>',
        text("5\n", formula='="5"'),
    ),
    "a formula that is true": (
        '<c r="A1" t="b"><f>1=1</f><v>1</v></c>',
        Cell(Kind.BOOLEAN, True, formula="=1=1"),
    ),
    "a formula that fails": (
        '<c r="A1" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
        error("#DIV/0!", formula="=1/0"),
    ),
    "a formula with line ends": (
        '<c r="A1"><f xml:space="preserve">1\n+1</f><v>2</v></c>',
        number(2, formula="=1\n+1"),
    ),
    "a struck number": ('<c r="A1" s="1"><v>50</v></c>', number(50, strike=Strike.WHOLE)),
    "a struck blank": ('<c r="A1" s="1"/>', Cell(strike=Strike.WHOLE)),
    "a date of ISO 8601": (
        '<c r="A1" t="d"><v>2026-01-02T06:00:00</v></c>',
        number(46024.25, shape=Shape.DATE),
    ),
    "a day of ISO 8601": (
        '<c r="A1" t="d"><v>2026-01-02</v></c>',
        number(46024, shape=Shape.DATE),
    ),
    "a zone of ISO 8601": (
        '<c r="A1" t="d"><v>2026-01-02T06:00:00Z</v></c>',
        number(46024.25, shape=Shape.DATE),
    ),
    "a time of ISO 8601": (
        '<c r="A1" t="d"><v>12:00:00</v></c>',
        number(0.5, shape=Shape.DATE),
    ),
    "no date of ISO 8601": ('<c r="A1" t="d"><v>soon</v></c>', error("soon")),
    "a type that nobody knows": ('<c r="A1" t="zz"><v>5</v></c>', error("5")),
    "no address": ("<c><v>5</v></c>", number(5)),
    "an extension inside": (
        '<c r="A1"><v>5</v><extLst><ext><x:v xmlns:x="urn:x">6</x:v></ext></extLst></c>',
        number(5),
    ),
}


@pytest.mark.parametrize("case", CELLS)
def test_cell__means(case: str) -> None:
    xml, expected = CELLS[case]
    assert only_cell(xml, strings=STRINGS) == expected


def test_cell__takes_its_format_from_its_style() -> None:
    codes = ("d-mmm", '0" tokens"', "0.0,")
    assert [only_cell(f'<c r="A1" s="{n}"><v>5</v></c>', codes=codes) for n in range(2, 5)] == [
        number(5, format="d-mmm", shape=Shape.DATE),
        number(5, format='0" tokens"'),
        number(5, format="0.0,", shape=Shape.SCALED),
    ]


ALTERNATIVE = (
    f'<x:styleSheet xmlns:x="{MAIN}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><x:fonts><x:font/>'
    '<mc:AlternateContent><mc:Choice Requires="hs"><x:font><x:strike/></x:font></mc:Choice>'
    "<mc:Fallback><x:font/></mc:Fallback></mc:AlternateContent>"
    '<x:font><x:strike val="true"/></x:font></x:fonts>'
    "<x:fills><x:fill/></x:fills><x:dxfs><x:dxf><x:font><x:strike/></x:font>"
    '</x:dxf></x:dxfs><x:cellXfs><x:xf fontId="1"/><x:xf fontId="2"/><x:xf numFmtId="14" '
    'fontId="9"/></x:cellXfs></x:styleSheet>'
)


def test_styles__alternatives_and_other_collections_do_not_shift_them() -> None:
    cells = "".join(f'<c s="{n}"><v>5</v></c>' for n in range(3))
    grid = grid_of(build({"Bids": f"<row>{cells}</row>"}, more={"xl/styles.xml": ALTERNATIVE}))
    assert [grid.at(1, n).strike for n in (1, 2, 3)] == [Strike.NONE, Strike.WHOLE, Strike.NONE]
    assert grid.at(1, 3).shape is Shape.DATE


PLACES: dict[str, tuple[str, set[tuple[int, int]]]] = {
    "addresses": ('<row r="2"><c r="B2"><v>1</v></c><c r="AA2"><v>1</v></c></row>', {(2, 2), (2, 27)}),
    "none at all": ("<row><c><v>1</v></c><c><v>1</v></c></row><row><c><v>1</v></c></row>",
                    {(1, 1), (1, 2), (2, 1)}),
    "after a gap": ('<row r="3"><c r="C3"><v>1</v></c><c><v>1</v></c></row><row><c><v>1</v></c></row>',
                    {(3, 3), (3, 4), (4, 1)}),
    "the last cell there is": ('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
                               {(1048576, 16384)}),
    "small letters": ('<row r="1"><c r="b1"><v>1</v></c></row>', {(1, 2)}),
}  # fmt: skip


@pytest.mark.parametrize("case", PLACES)
def test_cell__stands_at(case: str) -> None:
    xml, expected = PLACES[case]
    assert set(grid_of(build({"Bids": xml})).cells) == expected


DAMAGED = {
    "a column too far": ('<row r="1"><c r="XFE1"/></row>', "beyond the last column"),
    "a row too far": ('<row r="1048577"/>', "outside the rows 1 to 1,048,576"),
    "row 0": ('<row r="0"/>', "outside the rows"),
    "a cell of another row": ('<row r="1"><c r="A5"/></row>', "the cell A5 stands in row 1"),
    "cells out of order": ('<row r="1"><c r="B1"/><c r="A1"/></row>', "row 1 are not in order"),
    "a cell twice": ('<row><c r="A1"><v>1</v></c><c r="A1"/></row>', "row 1 are not in order"),
    "rows out of order": ('<row r="2"/><row r="1"/>', "row 1 comes after row 2"),
    "a row twice": ('<row r="2"/><row r="2"/>', "row 2 comes after row 2"),
    "an unknown element for a row": ('<rov r="1"/>', 'a "rov" does not belong among its rows'),
    "an unknown element for a cell": (
        '<row r="7"><d r="A7"/></row>',
        'a "d" does not belong in row 7',
    ),
    "an unknown element for a value": (
        "<row><c><w>5</w></c></row>",
        'a "w" does not belong in row 1',
    ),
    "a cell for a value": ("<row><c><c>5</c></c></row>", 'a "c" does not belong in row 1'),
    "a text for a value": ("<row><c><t>5</t></c></row>", 'a "t" does not belong in row 1'),
    "a value for a text": ('<row><c t="inlineStr"><is><v>5</v></is></c></row>', 'a "v" does not'),
    "an unknown element for a text": ('<row><c t="inlineStr"><is><w>5</w></is></c></row>', 'a "w"'),
    "an unknown attribute for a type": ('<row><c u="s"><v>0</v></c></row>', 'the attribute "u"'),
    "two values": ("<row><c><v>1</v><v>1</v></c></row>", 'a "v" does not belong in row 1'),
    "two formulas": ("<row><c><f>1</f><f>2</f></c></row>", 'a "f" does not belong in row 1'),
    "two texts": (
        '<row><c t="inlineStr"><is><t>1</t></is><is><t>2</t></is></c></row>',
        'a "is" does not belong in row 1',
    ),
    "something in a value": (
        '<row><c><v>1<q xmlns="urn:x"/>1</v></c></row>',
        "bare text does not belong",
    ),
    "something before a value": ('<row><c><v><q xmlns="urn:x"/>1</v></c></row>', 'a "q" does not'),
    "bare text in a cell": ("<row><c>11</c></row>", "bare text does not belong in row 1"),
    "bare text before an extension": ("<row><c>11<extLst/></c></row>", "bare text does not belong"),
    "bare text behind a value": ("<row><c><v>1</v>1</c></row>", "bare text does not belong"),
    "bare text for a text": (
        '<row><c t="inlineStr"><is>11</is></c></row>',
        "bare text does not belong",
    ),
    "a value in a row": ('<row><c r="A1"/><v>11</v></row>', 'a "v" does not belong in row 1'),
    "a text in a row": (
        '<row><c r="A1"/><is><t>1</t></is></row>',
        'a "is" does not belong in row 1',
    ),
    "a formula in a row": ('<row><c r="A1"/><f>11</f></row>', 'a "f" does not belong in row 1'),
    "a text in a value": ("<row><c><v><is><t>1</t></is></v></c></row>", 'a "is" does not belong'),
    "a cell in an extension": (
        "<row><extLst><c/></extLst></row>",
        'a "c" does not belong in row 1',
    ),
    "a text in the font of a text": (
        '<row><c t="inlineStr"><is><r><rPr><t>9</t></rPr><t>50</t></r></is></c></row>',
        'a "t" does not belong in row 1',
    ),
    "no row number": ('<row r="one"/>', 'a row with the number "one"'),
    "no address": ('<row r="1"><c r="?"/></row>', 'a cell with the address "?"'),
    "no area": (sheet("", after='<mergeCells><mergeCell ref="x"/></mergeCells>'), 'cells "x"'),
    "no worksheet": (f'<chartsheet xmlns="{MAIN}"><worksheet/></chartsheet>', "no worksheet"),
    "too deep": ('<row r="1"><c r="A1">' + "<extLst>" * 30_000, "nested more than 200 deep"),
    "not closed": ('<row r="1"><c r="A1">', "mismatched tag"),
    "an undefined entity": ('<row r="1"><c r="A1"><v>&x;</v></c></row>', "undefined entity"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_tab__damage_is_named(case: str) -> None:
    xml, message = DAMAGED[case]
    with pytest.raises(StoreError) as caught:
        grid_of(build({"Bids": xml}))
    assert message in caught.value.message
    assert "Bids" in caught.value.message or "sheet1.xml" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("kind", ["", ' t="s"', ' t="str"', ' t="n"', ' t="b"'])
def test_cell__text_of_another_type_is_an_error_that_quotes_it(kind: str) -> None:
    cell = only_cell(f"<c{kind}><is><t>11</t></is></c>")
    assert (cell.kind, cell.value) == (Kind.ERROR, "11")


def test_cell__extensions_and_blanks_between_are_no_text() -> None:
    extension = '<extLst><ext uri="x"><q xmlns="urn:x">9<r/>9</q></ext></extLst>'
    cell = only_cell(f"<c> <v>1</v>\n {extension} </c>")
    assert cell == number(1)


STYLELESS = {
    "strict": STYLES.replace(MAIN, "http://purl.oclc.org/ooxml/spreadsheetml/main"),
    "no fonts": re.sub("<fonts.*</fonts>", "", STYLES),
    "no fills": re.sub("<fills.*</fills>", "", STYLES),
    "no cell formats": re.sub("<cellXfs.*</cellXfs>", "", STYLES),
    "a negative id": STYLES.replace(
        "<fonts", '<numFmts><numFmt numFmtId="-1" formatCode="0"/></numFmts><fonts'
    ),
}


@pytest.mark.parametrize("case", STYLELESS)
def test_styles__that_could_not_be_written_to_are_not_read_either(case: str) -> None:
    data = build({"Bids": "<row><c><v>5</v></c></row>"}, more={"xl/styles.xml": STYLELESS[case]})
    with pytest.raises(StoreError, match=r"the part xl/styles\.xml is damaged"):
        grid_of(data)


def test_tab__any_prefix_serves() -> None:
    xml = (
        f'<x:worksheet xmlns:x="{MAIN}"><x:sheetData><x:row r="1"><x:c r="A1"><x:v>5</x:v></x:c>'
        "</x:row></x:sheetData></x:worksheet>"
    )
    assert grid_of(build({"Bids": xml})).at(1, 1) == number(5)


def test_tab__the_dimension_is_not_believed() -> None:
    xml = sheet('<row r="9"><c r="C9"><v>5</v></c></row>', before='<dimension ref="A1"/>')
    assert set(grid_of(build({"Bids": xml})).cells) == {(9, 3)}


def test_tab__dates_of_1904_become_those_of_1900() -> None:
    row = '<row r="1"><c r="A1" s="2"><v>0.5</v></c><c r="B1" s="3"><v>1</v></c><c r="C1"><v>1</v></c></row>'
    data = build(
        {"Bids": row},
        workbook='<workbookPr date1904="true"/>',
        more={"xl/styles.xml": styles("h:mm", "d.m.yy")},
    )
    grid = grid_of(data)
    assert [grid.at(1, n).value for n in (1, 2, 3)] == [0.5, 1463, 1]
    assert str(grid.at(1, 2).moment) == "1904-01-02 00:00:00"


def test_tab__shared_formulas_are_written_out() -> None:
    rows = (
        '<row r="1"><c r="A1"><f t="shared" ref="A1:A3" si="0">B1*$C$1</f><v>1</v></c></row>'
        '<row r="2"><c r="A2"><f t="shared" si="0"/><v>2</v></c></row>'
        '<row r="3"><c r="A3"><f t="shared" si="0"/></c>'
        '<c r="B3"><f t="shared" si="9"/><v>5</v></c></row>'
    )
    grid = grid_of(build({"Bids": rows}))
    assert [grid.at(n, 1).formula for n in (1, 2, 3)] == ["=B1*$C$1", "=B2*$C$1", "=B3*$C$1"]
    assert [grid.at(n, 1).cached for n in (1, 2, 3)] == [True, True, False]
    assert grid.at(3, 2).formula == "="  # its master is missing; it is a formula all the same


SHIFTED = {
    "A1+$A1+A$1+$A$1": "B3+$A3+B$1+$A$1",
    "SUM(A1:B2)": "SUM(B3:C4)",
    "SUM(A:A,$A:A,1:1,1:$1)": "SUM(B:B,$A:B,3:3,3:$1)",
    "Sheet1!A1+'A1 ''B1'!A1": "Sheet1!B3+'A1 ''B1'!B3",
    '"A1"&A1': '"A1"&B3',
    "LOG10(A1)+A1_name+ABCD1": "LOG10(B3)+A1_name+ABCD1",
    "Table1[[#This Row],[A1]]+A1": "Table1[[#This Row],[A1]]+B3",
    "[1]Data!A1": "[1]Data!B3",
    "XFD1+A1048575": "#REF!+#REF!",
    "1.5E2+A1": "1.5E2+B3",
}


@pytest.mark.parametrize("formula", SHIFTED)
def test_formula__shifts_references_alone(formula: str) -> None:
    assert shifted(formula, 2, 1) == SHIFTED[formula]
    assert shifted(formula, 0, 0) == formula


def test_formula__out_of_the_sheet() -> None:
    assert shifted("A1+B2+B:C", -1, -1) == "#REF!+A1+A:B"


def test_tab__results_of_an_array_formula_are_no_typed_values() -> None:
    rows = (
        '<row r="1"><c r="A1"><f t="array" ref="A1:A2">B1:B2</f><v>1</v></c></row>'
        '<row r="2"><c r="A2"><v>2</v></c><c r="B2"><v>3</v></c></row>'
    )
    grid = grid_of(build({"Bids": rows}))
    assert [grid.at(*place).formula for place in ((1, 1), (2, 1), (2, 2))] == [
        "=B1:B2", "=B1:B2", None,
    ]  # fmt: skip


def test_tab__merges_cover_blank_cells_as_far_as_the_tab_is_used() -> None:
    row = '<row r="2"><c r="A2"><v>1</v></c><c r="D2"><v>4</v></c></row>'
    merges = '<mergeCells><mergeCell ref="A2:B2"/><mergeCell ref="C1:XFD1"/></mergeCells>'
    grid = grid_of(build({"Bids": sheet(row, after=merges)}))
    assert {place: cell.merge for place, cell in grid.cells.items()} == {
        (2, 1): "A2:B2", (2, 2): "A2:B2", (2, 4): None, (1, 3): "C1:XFD1", (1, 4): "C1:XFD1",
    }  # fmt: skip


def test_tab__comments_old_and_threaded() -> None:
    notes = f'<comments xmlns="{MAIN}"><commentList><comment ref="A1"/></commentList></comments>'
    threads = (
        '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/'
        'threadedcomments"><threadedComment ref="B5" id="{1}"/></ThreadedComments>'
    )
    links = link("rId1", "comments", "../comments1.xml") + link("rId2", "x", "../t.xml").replace(
        '/x"', '/threadedComment"'
    )
    data = build(
        {"Bids": '<row r="1"><c r="A1"><v>5</v></c></row>'},
        more={RELATIONS: relationships(links), "xl/comments1.xml": notes, "xl/t.xml": threads},
    )
    assert dict(grid_of(data).cells) == {
        (1, 1): number(5, comment=True),
        (5, 2): Cell(comment=True),
    }


def test_tab__tables_and_what_is_hidden() -> None:
    table = f'<table xmlns="{MAIN}" id="1" name="t" displayName="Table1" ref="A1:B2"/>'
    xml = sheet(
        '<row r="1" hidden="1"><c r="A1"><v>5</v></c></row><row r="4" hidden="true"/>'
        '<row r="5" hidden="0"/>',
        before='<cols><col min="2" max="3" hidden="1"/><col min="4" max="4"/>'
        '<col min="16384" max="99999" hidden="1"/></cols>',
    )
    data = build(
        {"Bids": xml},
        more={RELATIONS: relationships(link("r", "table", "../t.xml")), "xl/t.xml": table},
    )
    grid = grid_of(data)
    assert grid.tables == ("Table1",)
    assert grid.hidden_rows == {1, 4}
    assert grid.hidden_columns == {2, 3, 16384}
    assert grid.at(1, 1) == number(5)
    assert not grid.hidden
    assert grid.key == "xl/worksheets/sheet1.xml"


def test_book__only_the_tabs_asked_for_are_read() -> None:
    data = build(
        {"Bids": '<row><c t="s"><v>0</v></c></row>', "Broken": "<row r='x'/>"}, strings=STRINGS
    )
    package = Package.open(data, "Game.xlsx")
    titles, grids = read_grids(package, {"Bids", "Nowhere"})
    assert titles == ("Bids", "Broken")
    assert list(grids) == ["Bids"]


# --- bounds ---------------------------------------------------------------------------------------


def parsed(xml: str) -> scanning.Scan:
    package = Package.open(build({"Bids": xml}), "Game.xlsx")
    return scan(package, package.sheets[0], frozenset())


def test_bounds__a_million_styled_empty_rows_are_not_parsed() -> None:
    first = '<row r="1"><c r="A1"><v>5</v></c></row>'
    rows = "".join(f'<row r="{n}" s="1"><c r="A{n}" s="0"/></row>' for n in range(2, 1_000_001))
    merge = '<mergeCells><mergeCell ref="A1:B1"/></mergeCells>'
    package = Package.open(build({"Bids": sheet(first + rows, after=merge)}), "Game.xlsx")
    spent = scanning.Spent()
    found = scan(package, package.sheets[0], frozenset(), spent)
    assert not found.whole
    assert spent.parsed < 300_000  # of 40 million bytes
    assert set(found.cells) == {(1, 1)}
    assert found.merges == [Area.of("A1:B1")]  # it stands behind them all the same


def test_bounds__empty_rows_in_between_do_not_end_a_tab() -> None:
    value = "<c><v>5</v></c>"
    empty = "<row/>" * (scanning.EMPTY_RUN - 1)
    found = parsed(f"<row>{value}</row>{empty}<row>{value}</row>{empty}<row>{value}</row>")
    assert found.whole
    assert len(found.cells) == 3
    assert not parsed(f"{empty}<row/><row>{value}</row>").cells


def test_bounds__the_tail_is_found_under_any_prefix_and_over_chunk_borders() -> None:
    for extra in range(40):
        rows = '<x:row s="1"/>' * (scanning.EMPTY_RUN + 8000) + " " * extra
        xml = (
            f'<x:worksheet xmlns:x="{MAIN}"><x:sheetData>{rows}</x:sheetData>'
            '<x:mergeCells><x:mergeCell ref="A1:B1"/></x:mergeCells></x:worksheet>'
        )
        assert parsed(xml).merges == [Area.of("A1:B1")]


def test_bounds__rows_behind_the_rows_do_no_harm() -> None:
    rows = "<row/>" * scanning.EMPTY_RUN
    assert not parsed(sheet(rows, after=f"<sheetData>{rows}</sheetData>")).cells


def test_bounds__a_row_of_styled_blanks_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "MAX_BLANK_RUN", 10_000)
    row = "<row>" + '<c s="1"/>' * 500 + "</row>"
    found = parsed(row * 100 + "<row><c><v>5</v></c></row>")
    assert not found.whole
    assert not found.cells


BOUNDS = {
    "cells": (
        "MAX_CELLS",
        100,
        "<row>" + "<c><v>1</v></c>" * 9000 + "</row>",
        "over 100 cells that hold something",
    ),
    "blanks": ("MAX_BLANKS", 9, "<row>" + "<c/>" * 9000 + "</row>", "more than can be read"),
    "elements": ("MAX_ELEMENTS", 9, sheet("", after="<a/>" * 20_000), "more than can be read"),
    "pieces of text": (
        "MAX_ELEMENTS",
        9,
        '<row><c t="inlineStr"><is>' + "<r/>" * 20_000 + "</is></c></row>",
        "more than can be read",
    ),
    "long texts": (
        "MAX_CHARACTERS",
        9,
        f"<row><c><v>{'5' * 70_000}</v></c></row>",
        "more than can be",
    ),
    "merges": (
        "MAX_MERGES",
        9,
        sheet("", after="<mergeCells>" + '<mergeCell ref="A1:B1"/>' * 5_000 + "</mergeCells>"),
        "more than 9 merged areas",
    ),
    "bytes": ("MAX_READ", 99, "<row><c><v>5</v></c></row>", "more than can be read"),
    "head": ("MAX_HEAD", 99, sheet("", before="<cols/>" * 99), "more than can be read"),
    "text": ("MAX_PIECES", 1, "<row><c><v>" + "5" * 300_000 + "</v></c></row>", "holds a text of"),
}


@pytest.mark.parametrize("case", BOUNDS)
def test_bounds__hold(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, bound, xml, message = BOUNDS[case]
    monkeypatch.setattr(scanning, name, bound)
    with pytest.raises(StoreError, match='"Bids"') as caught:
        parsed(xml)
    assert message in caught.value.message


def test_bounds__merges_may_not_cover_the_world() -> None:
    row = '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>1</v></c></row>'
    merges = '<mergeCell ref="A1:XFD1048576"/>' * 50
    with pytest.raises(StoreError, match="cover more than 200,000 cells"):
        grid_of(build({"Bids": sheet(row, after=f"<mergeCells>{merges}</mergeCells>")}))
    assert reading.MAX_COVERED == 200_000


def test_bounds__a_huge_tag_is_not_gathered() -> None:
    xml = sheet("", before=f'<sheetPr codeName="{"x" * (20 << 20)}"/>')
    data = build({"Bids": xml})
    del xml
    tracemalloc.start()
    try:
        with pytest.raises(StoreError, match=r"a tag of more than 1 MB|more than can be read"):
            grid_of(data)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


EXTENSION = '<extLst><ext uri="{q}"><t>9</t></ext></extLst>'


@pytest.mark.parametrize(
    "before",
    [f'<c r="A1"><v>5</v>{EXTENSION}</c>', f'<c r="A1"/>{EXTENSION}'],
    ids=["in a cell", "between cells"],
)
def test_extension__is_no_part_of_the_next_text(before: str) -> None:
    row = f'<row r="1">{before}<c r="B1" t="inlineStr"><is><t>7</t></is></c></row>'
    assert grid_of(build({"Bids": row})).at(1, 2) == text("7")


def test_shared_texts__extensions_and_white_space_are_no_part_of_them() -> None:
    strings = f"{EXTENSION}" + "\n  <si/>" * 100 + "<si>\n <r>\n<t>7</t> </r>\n</si>" + EXTENSION
    assert only_cell('<c r="A1" t="s"><v>100</v></c>', strings=strings) == text("7")


@pytest.mark.parametrize(
    ("item", "what"),
    [
        ("60", "bare text"),
        ("6<t>0</t>", "bare text"),
        ("<t>0</t>6", "bare text"),
        ("<r>6<t>0</t></r>", "bare text"),
        ("<r><t>0</t>6</r>", "bare text"),
        ("<t>6<b/>0</t>", 'a "b"'),
        ("<t>5</t><strike/>", 'a "strike"'),
        ("<r><r><t>5</t></r></r>", 'a "r"'),
        ("<r><rPr><extLst><ext><t>9</t></ext></extLst></rPr><t>50</t></r>", 'a "t"'),
        ('<t>50</t><phoneticPr fontId="1"><t>9</t></phoneticPr>', 'a "t"'),
    ],
)
def test_shared_texts__damage_is_named(item: str, what: str) -> None:
    with pytest.raises(StoreError) as caught:
        only_cell('<c r="A1" t="s"><v>1</v></c>', strings=f"<si><t>a</t></si><si>{item}</si>")
    assert f"{what} does not belong in text 1" in caught.value.message


@pytest.mark.parametrize(
    "cell",
    [
        '<c r="A1" t="inlineStr"><is><t>{}</t></is></c>',
        '<c r="A1" t="str"><v>{}</v></c>',
    ],
)
def test_text__longer_than_any_is_never_read_as_its_beginning(cell: str) -> None:
    long = only_cell(cell.format("5" + " " * 40_000 + "0")).text
    assert long.startswith("5 ")
    assert long.endswith(" …")


def test_bounds__shared_texts_that_are_not_wanted_take_no_room() -> None:
    strings = "<si><t>wanted</t></si>" + "".join(
        f"<si><t>{n:0100d}</t></si>" for n in range(100_000)
    )
    data = build({"Bids": '<row><c t="s"><v>0</v></c></row>'}, strings=strings)
    del strings
    tracemalloc.start()
    try:
        assert grid_of(data).at(1, 1).value == "wanted"
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


# --- texts and formats ----------------------------------------------------------------------------

ESCAPES = {
    "plain": "plain",
    "_x0041__x0042_": "AB",
    "_x005F_x0041_": "_x0041_",
    "_x41_": "_x41_",
    "_xD83D__xDE00_": "😀",
    "_xD83D_": "�",
    "_x0000_": "\0",
}


@pytest.mark.parametrize("raw", ESCAPES)
def test_escapes__stand_for_characters(raw: str) -> None:
    assert unescaped(raw) == ESCAPES[raw]


SHAPES: dict[Shape, tuple[str, ...]] = {
    Shape.GENERAL: (
        "General", "", "GENERAL", "Standard", "0", "0.00", "#,##0", "#,##0.00", "[Red]", "[Red]0",
        '0" days"', '0"d"', '"h:mm" 0', '0"%"', r"0\%", r"0\d", r"\d0", "0_d", "0*d", '"a;b"0',
        'General" units"', "0;-0;;@", r"0.0_);\(0.0\)", "[<=9999999]###-####;(###) ###-####",
        "[DBNum1][$-804]General", "[$-409]0", '0"abc', "[<1]0%;0", "[=0]d;0", "00000", "[Color 5]0",
        "0;[Red]0%", '[>=1000]0.0,"k";0', "(0)", '"<"0">"', "JJJJ", '"1st: "0', '0" d.5"',
        "G/標準", "G/通用格式", '#\\ ##0', "_5* 0", "General;General;General;@",
    ),
    Shape.DATE: (
        "mm-dd-yy", "d-mmm", "mmm-yy", "yyyy-mm-dd", "m/d/yy h:mm", "[$-409]d-mmm-yy;@", "mmmm",
        "m", "mm", "d", "dddd", "[$-F800]dddd, mmmm dd, yyyy", 'yyyy"年"m"月"d"日"', "ggge",
        "d h:mm", "d.m.yyyy hh:mm:ss", "YYYY-MM-DD", "[$-411]ge.m.d", "aaaa", "mmm h:mm",
        r"yyyy\-mm\-dd", "dd/mm/yyyy;@", "d/m/bb", '"Due "d', "[>1]d;0",
    ),
    Shape.TIME: (
        "h:mm", "h:mm AM/PM", "h:mm:ss", "mm:ss", "mm:ss.0", "[h]:mm", "[h]:mm:ss", "[mm]:ss",
        "[ss]", "[$-F400]h:mm:ss AM/PM", "hh:mm;@", 'h"h"', "H:MM", "ss.000",
    ),
    Shape.PERCENT: ("0%", "0.00%", "%0", "0 %", "0%;[Red]-0%", "#,##0%"),
    Shape.SCIENTIFIC: ("0.00E+00", "##0.0E+0", "0E-0", "0.0e+0"),
    Shape.FRACTION: ("# ?/?", "# ??/??", "# ?/2", "?/?", "# ??/16", "0/0", "# ?/100"),
    Shape.CURRENCY: (
        '"$"#,##0.00', "$0", "[$€-407] #,##0.00", "#,##0.00 [$€-1]", "[$CHF-807] 0", "[$USD] 0",
        '#,##0 "€"', "£0", "¥0", r"\$0", '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"??_);_(@_)',
        "#,##0 ₽", "[$$-409]0", "[$₹-4009] 0",
    ),
    Shape.SCALED: (
        "0,", "#,##0,", '0.0,,"M"', "0.0,,", '#,##0,"K"', "$#,##0,", "0,.0", "0 ,",
        '0"0"', '#"5"', r"0\.0", '0","0',
    ),
    Shape.HIDDEN: (";;;", ";", ";;", ";0", '"x"', '" "', "_ ", "* ;* ", ';;;"x"', '""', "-"),
    Shape.TEXT: ("@", "_(@_)", '@"x"', "[Red]@"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "shape"), [(code, shape) for shape, codes in SHAPES.items() for code in codes]
)
def test_shape__of_a_format(code: str, shape: Shape) -> None:
    assert shape_of(code) is shape


BUILT_IN_SHAPES = {
    Shape.GENERAL: {0, 1, 2, 3, 4, *range(37, 42), 43, 59, 60, 61, 62},
    Shape.PERCENT: {9, 10, 67, 68},
    Shape.SCIENTIFIC: {11, 48},
    Shape.FRACTION: {12, 13, 69, 70},
    Shape.TEXT: {49},
    Shape.CURRENCY: {5, 6, 7, 8, 42, 44},
    Shape.TIME: {*range(18, 22), 32, 33, *range(45, 48), 75, 76, 78, 79, 80},
    Shape.DATE: {*range(14, 18), 22, *range(27, 32), *range(34, 37), *range(50, 59), *range(71, 75),
                 77, 81},
}  # fmt: skip


def test_shape__of_the_formats_that_a_number_names() -> None:
    found: dict[Shape, set[int]] = {}
    for number_of_format, code in BUILT_IN.items():
        found.setdefault(shape_of(code), set()).add(number_of_format)
    assert found == BUILT_IN_SHAPES


def test_shared_formula__a_long_one_for_many_cells_costs_little() -> None:
    """Written out for each cell it would be 160 million characters."""
    import time

    long = "A1+" * 2_600 + "A1"
    rows = "".join(
        f'<row r="{r}"><c r="B{r}"><f t="shared" si="0"/><v>1</v></c></row>'
        for r in range(2, 20_001)
    )
    first = (
        f'<row r="1"><c r="B1"><f t="shared" ref="B1:B20000" si="0">{long}</f><v>1</v></c></row>'
    )
    data = build({"Bids": first + rows})
    start = time.process_time()
    _, grids = read_grids(Package.open(data, "game.xlsx"), ["Bids"])
    assert time.process_time() - start < 5
    cells = grids["Bids"].cells
    assert len(cells) == 20_000
    assert all(cell.formula for cell in cells.values())
    assert str(cells[2, 2].formula).startswith("=A2+A2+")


# --- what nobody can see --------------------------------------------------------------------------

SOLID = '<patternFill patternType="solid"><fgColor {}/></patternFill>'
COLOURS = {
    ("", ""): False,
    ('<color rgb="FFFFFFFF"/>', ""): True,
    ('<color rgb="FFFFFFFF"/>', '<patternFill patternType="none"/>'): True,
    ('<color theme="0"/>', ""): True,
    ('<color theme="0" tint="-0.25"/>', ""): False,
    ('<color indexed="9"/>', '<patternFill patternType="gray125"/>'): False,
    ('<color rgb="ff1f3a5f"/>', SOLID.format('rgb="FF1F3A5F"')): True,
    ('<color rgb="FFFFFFFF"/>', SOLID.format('rgb="FF1F3A5F"')): False,
    ('<color theme="4"/>', SOLID.format('theme="4"')): True,
    ('<color theme="4"/>', SOLID.format('theme="5"')): False,
    ('<color theme="1"/>', '<patternFill patternType="solid"/>'): True,
    ('<color auto="1"/>', ""): False,
}


@pytest.mark.parametrize(("font", "fill"), COLOURS)
def test_unseen__is_a_font_in_the_colour_of_its_ground(font: str, fill: str) -> None:
    styles = (
        STYLES.replace("<font/>", f"<font>{font}</font>", 1)
        .replace("<fill><patternFill/></fill>", f"<fill>{fill}</fill>")
    )  # fmt: skip
    data = build({"Bids": "<row><c><v>5</v></c></row>"}, more={"xl/styles.xml": styles})
    assert grid_of(data).at(1, 1).unseen is COLOURS[font, fill]
