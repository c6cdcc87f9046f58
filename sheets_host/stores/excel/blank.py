"""The least that a workbook must hold: what a new one is grafted into."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Final

from sheets_host.stores.excel.package import CONTENT_TYPES, Package
from sheets_host.stores.excel.parsing import MAIN
from sheets_host.stores.excel.repacking import DECLARATION, OFFICE, RELATIONSHIPS, TYPES
from sheets_host.stores.excel.splicing import escaped

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_XML: Final = "application/vnd.openxmlformats"
_SPREADSHEET: Final = f"{_XML}-officedocument.spreadsheetml"
# Excel refuses a file whose ending and content type disagree.
_KINDS: Final = {
    ".xlsx": f"{_SPREADSHEET}.sheet.main+xml",
    ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
}


def blank(title: str, name: str, suffix: str) -> Package:
    """Return a new package with one empty tab of this title.

    name: what people call the file. suffix: ``.xlsx`` or ``.xlsm``.
    """
    main = MAIN.strip()
    parts = {
        CONTENT_TYPES: f"""<Types xmlns="{TYPES}">
            <Default Extension="rels" ContentType="{_XML}-package.relationships+xml"/>
            <Default Extension="xml" ContentType="application/xml"/>
            <Override PartName="/xl/workbook.xml" ContentType="{_KINDS[suffix.lower()]}"/>
            <Override PartName="/xl/worksheets/sheet1.xml"
             ContentType="{_SPREADSHEET}.worksheet+xml"/>
            <Override PartName="/xl/styles.xml" ContentType="{_SPREADSHEET}.styles+xml"/>
            </Types>""",
        "_rels/.rels": f"""<Relationships xmlns="{RELATIONSHIPS}">
            <Relationship Id="rId1" Type="{OFFICE}officeDocument" Target="xl/workbook.xml"/>
            </Relationships>""",
        "xl/workbook.xml": f"""<workbook xmlns="{main}" xmlns:r="{OFFICE.rstrip("/")}">
            <workbookPr/><bookViews><workbookView activeTab="0"/></bookViews>
            <sheets><sheet name="{escaped(title)}" sheetId="1" r:id="rId1"/></sheets>
            </workbook>""",
        "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{RELATIONSHIPS}">
            <Relationship Id="rId1" Type="{OFFICE}worksheet" Target="worksheets/sheet1.xml"/>
            <Relationship Id="rId2" Type="{OFFICE}styles" Target="styles.xml"/>
            </Relationships>""",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData/></worksheet>',
        "xl/styles.xml": f"""<styleSheet xmlns="{main}">
            <fonts count="1"><font><sz val="11"/><color rgb="FF000000"/><name val="Calibri"/>
            <family val="2"/></font></fonts>
            <fills count="2"><fill><patternFill patternType="none"/></fill>
            <fill><patternFill patternType="gray125"/></fill></fills>
            <borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
            <cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>
            </cellStyleXfs>
            <cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
            </cellXfs>
            <cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
            </styleSheet>""",
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as package:
        for part, markup in parts.items():
            line = re.sub(r"\n *(?=<)", "", markup).replace("\n", "")
            package.writestr(zipfile.ZipInfo(part, _EPOCH), DECLARATION + line.encode())
    return Package.open(target.getvalue(), name)
