"""Workbooks made from raw XML, so that tests can hold any form of cell, sound or broken."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"

_WHOLE = re.compile(r"<([a-z]+:)?(work|chart)sheet xmlns")

STYLES = (
    f'<styleSheet xmlns="{MAIN}"><fonts count="2"><font/><font><strike/></font></fonts>'
    "<fills><fill><patternFill/></fill></fills><borders><border/></borders>"
    "<cellStyleXfs><xf/></cellStyleXfs>"
    '<cellXfs count="2"><xf numFmtId="0" fontId="0"/><xf numFmtId="0" fontId="1"/></cellXfs>'
    "</styleSheet>"
)
"""Style 0 is plain, style 1 is struck out."""


def styles(*codes: str) -> str:
    """Return a styles part whose styles 2, 3, … have these number formats."""
    formats = "".join(
        f'<numFmt numFmtId="{200 + n}" formatCode="{code.replace(chr(34), "&quot;")}"/>'
        for n, code in enumerate(codes)
    )
    xfs = "".join(f'<xf numFmtId="{200 + n}" fontId="0"/>' for n, _ in enumerate(codes))
    return STYLES.replace("<fonts", f"<numFmts>{formats}</numFmts><fonts").replace(
        "</cellXfs>", f"{xfs}</cellXfs>"
    )


def sheet(data: str, before: str = "", after: str = "") -> str:
    """Return a worksheet part around the contents of its ``sheetData``."""
    return (
        f'<worksheet xmlns="{MAIN}" xmlns:r="{LINKS}">{before}'
        f"<sheetData>{data}</sheetData>{after}</worksheet>"
    )


def parts(
    sheets: Mapping[str, str],
    *,
    strings: str | None = None,
    workbook: str = "",
    more: Mapping[str, str | bytes] | None = None,
) -> dict[str, str | bytes]:
    """Return the parts of a least workbook, by name, in their usual order.

    sheets: by title, the contents of ``sheetData``, or a whole part where that holds
        a root. strings: the contents of ``sst``. workbook: XML before ``sheets``.
    more: parts that replace or join these.
    """
    rows = list(enumerate(sheets, 1))
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        for n, _ in rows
    )
    tabs = "".join(f'<sheet name="{title}" sheetId="{n}" r:id="rId{n}"/>' for n, title in rows)
    if strings is not None:
        overrides += (
            f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_TYPE}.sharedStrings+xml"/>'
        )
    links = "".join(
        link(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n, _ in rows
    ) + link("rId900", "styles", "styles.xml")
    if strings is not None:
        links += link("rId901", "sharedStrings", "sharedStrings.xml")
    made: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="'
        'application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>'
        + overrides
        + "</Types>",
        "_rels/.rels": relationships(link("rId1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}">{workbook}'
        f"<sheets>{tabs}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relationships(links),
        "xl/styles.xml": STYLES,
    }
    if strings is not None:
        made["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}">{strings}</sst>'
    for n, title in rows:
        data = sheets[title]
        made[f"xl/worksheets/sheet{n}.xml"] = data if _WHOLE.search(data) else sheet(data)
    return made | dict(more or {})


def zipped(contents: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Zip parts in their order."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method, compresslevel=1) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return target.getvalue()


def build(
    sheets: Mapping[str, str],
    *,
    strings: str | None = None,
    workbook: str = "",
    more: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """Return a least workbook as a file; the arguments are those of `parts`."""
    return zipped(parts(sheets, strings=strings, workbook=workbook, more=more))


def relationships(links: str) -> str:
    """Return a relationships part around its links."""
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'


def link(number: str, kind: str, target: str) -> str:
    """Return one relationship of an Office type, such as ``comments``."""
    return f'<Relationship Id="{number}" Type="{LINKS}/{kind}" Target="{target}"/>'
