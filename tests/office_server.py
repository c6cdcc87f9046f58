"""The end of `office.py` that talks to LibreOffice: JSON lines in, JSON lines out.

Run by the Python that LibreOffice's `uno` module belongs to, which is rarely the one that runs
the tests; so it imports nothing of ours. Arguments: the name of the pipe that soffice listens
on, and how many seconds to wait for it. A line of input is ``{"do": verb, "args": {...}}``, a
line of output ``{"ok": result}``, ``{"error": text}`` or, when LibreOffice is gone,
``{"lost": text}``. It ends when its input ends, and takes LibreOffice with it.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

uno: Any = importlib.import_module("uno")

FILTERS = {
    ".xlsx": "Calc MS Excel 2007 XML",
    ".xlsm": "Calc MS Excel 2007 VBA XML",
    ".xls": "MS Excel 97",
    ".ods": "calc8",
    ".html": "HTML (StarCalc)",
    ".pdf": "calc_pdf_Export",
}
# com.sun.star.sheet.ConditionOperator2 and ConditionFormatOperator agree on none of these words.
OPERATORS = {0: "=", 1: "<", 2: ">", 3: "<=", 4: ">=", 5: "<>", 6: "between", 24: "formula"}
FORMAT_KINDS = {0: "condition", 1: "colour scale", 2: "data bar", 3: "icons", 4: "date"}
ERROR_TEXT = re.compile(r"Err:\d+|#(?:REF!|NAME\?|VALUE!|DIV/0!|NUM!|N/A|NULL!)")
ERROR_RESULT = 4  # com.sun.star.sheet.FormulaResult.ERROR
ANY_CONTENT = 31  # com.sun.star.sheet.CellFlags: numbers, dates, text, notes, formulas
STRING_RESULT = 2  # com.sun.star.sheet.FormulaResult.STRING
DEFAULT_COLOUR = -1  # COL_AUTO: no colour of its own


class RefusedError(Exception):
    """What was asked cannot be done; LibreOffice is well."""


def connect(pipe: str, seconds: float) -> Any:
    """Return LibreOffice's desktop. Raises RefusedError where nothing answers in time."""
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext(
        "com.sun.star.bridge.UnoUrlResolver", local
    )
    give_up = time.monotonic() + seconds
    while True:
        try:
            context = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except Exception as error:  # uno has no class of its own for "not yet"
            if time.monotonic() > give_up:
                raise RefusedError(f"LibreOffice did not start: {error}") from error
            time.sleep(0.05)
        else:
            return context.ServiceManager.createInstanceWithContext(
                "com.sun.star.frame.Desktop", context
            )


def prop(name: str, value: Any) -> Any:
    made = uno.createUnoStruct("com.sun.star.beans.PropertyValue")
    made.Name, made.Value = name, value
    return made


def letters(column: int) -> str:
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def area_text(area: Any) -> str:
    first = f"{letters(area.StartColumn)}{area.StartRow + 1}"
    last = f"{letters(area.EndColumn)}{area.EndRow + 1}"
    return first if first == last else f"{first}:{last}"


def colour(number: int) -> str | None:
    return None if number == DEFAULT_COLOUR else f"{number & 0xFFFFFF:06X}"


def value_of(cell: Any) -> str | float | None:
    """Return what a cell holds; of a formula its result, of an error the text that is shown."""
    kind = cell.Type.value
    if kind == "EMPTY":
        return None
    if cell.getError():
        return str(cell.String)
    if kind == "TEXT" or (kind == "FORMULA" and cell.FormulaResultType2 == STRING_RESULT):
        return str(cell.String)
    return float(cell.Value)


class Server:
    """The verbs. Each is a method that takes what the client sends and returns plain data."""

    def __init__(self, desktop: Any) -> None:
        self._desktop = desktop
        self._documents: dict[int, Any] = {}
        self._count = 0

    def alive(self) -> bool:
        try:
            self._desktop.getFrames()
        except Exception:  # noqa: BLE001 - whatever a broken bridge raises, it is broken
            return False
        return True

    def _sheet(self, doc: int, tab: str) -> Any:
        sheets = self._documents[doc].Sheets
        if not sheets.hasByName(tab):
            raise RefusedError(f"no tab {tab!r}; there are {', '.join(sheets.ElementNames)}")
        return sheets.getByName(tab)

    def _area(self, doc: int, tab: str, cell: str) -> Any:
        return self._sheet(doc, tab).getCellRangeByName(cell)

    def _cell(self, doc: int, tab: str, cell: str) -> Any:
        return self._area(doc, tab, cell).getCellByPosition(0, 0)

    # --- files ---

    def open(self, path: str) -> int:
        document = self._desktop.loadComponentFromURL(
            Path(path).as_uri(),
            "_blank",
            0,
            (prop("Hidden", True), prop("MacroExecutionMode", 0), prop("UpdateDocMode", 0)),
        )
        if document is None:
            raise RefusedError(
                f"LibreOffice cannot open {path} (no spreadsheet, broken, or locked)"
            )
        if not document.supportsService("com.sun.star.sheet.SpreadsheetDocument"):
            document.close(True)
            raise RefusedError(f"LibreOffice sees no spreadsheet in {path}")
        self._count += 1
        self._documents[self._count] = document
        return self._count

    def close(self, doc: int) -> None:
        self._documents.pop(doc).close(True)

    def save(self, doc: int) -> None:
        self._documents[doc].store()

    def save_as(self, doc: int, path: str) -> None:
        self._documents[doc].storeAsURL(Path(path).as_uri(), self._filter(path))

    def export(self, doc: int, path: str) -> None:
        self._documents[doc].storeToURL(Path(path).as_uri(), self._filter(path))

    def _filter(self, path: str) -> tuple[Any, ...]:
        ending = Path(path).suffix.lower()
        if ending not in FILTERS:
            raise RefusedError(f"no filter for {ending!r}; there are {', '.join(FILTERS)}")
        return (prop("FilterName", FILTERS[ending]), prop("Overwrite", True))

    # --- cells ---

    def type(self, doc: int, tab: str, cell: str, text: str) -> None:
        at = self._cell(doc, tab, cell)
        if at.Spreadsheet.isProtected() and at.CellProtection.IsLocked:
            raise RefusedError(f"{tab} {cell} is protected: nobody can type there")
        # FormulaLocal goes the way of the input line: the cell's format, the locale's numbers
        # and dates, the apostrophe. It gave what .uno:EnterString gives for 31 kinds of entry.
        at.FormulaLocal = text

    def value(self, doc: int, tab: str, cell: str) -> str | float | None:
        return value_of(self._cell(doc, tab, cell))

    def values(self, doc: int, tab: str, area: str) -> list[list[str | float | None]]:
        block = self._area(doc, tab, area)
        size = block.RangeAddress
        # All at once: a call for each cell takes a hundred times as long.
        typed = block.getFormulaArray()
        found: list[list[str | float | None]] = [
            [held if typed[r][c] != "" else None for c, held in enumerate(row)]
            for r, row in enumerate(block.getDataArray())
        ]
        for wrong in block.queryFormulaCells(ERROR_RESULT).RangeAddresses:
            for row in range(wrong.StartRow, wrong.EndRow + 1):
                for column in range(wrong.StartColumn, wrong.EndColumn + 1):
                    r, c = row - size.StartRow, column - size.StartColumn
                    found[r][c] = value_of(block.getCellByPosition(c, r))
        return found

    def text(self, doc: int, tab: str, cell: str) -> str:
        return str(self._cell(doc, tab, cell).String)

    def formula(self, doc: int, tab: str, cell: str) -> str | None:
        at = self._cell(doc, tab, cell)
        return str(at.Formula) if at.Type.value == "FORMULA" else None

    def number_format(self, doc: int, tab: str, cell: str) -> str:
        formats = self._documents[doc].NumberFormats
        return str(formats.getByKey(self._cell(doc, tab, cell).NumberFormat).FormatString)

    def recalculate(self, doc: int) -> None:
        self._documents[doc].calculate()

    def errors(self, doc: int) -> list[tuple[str, str, str]]:
        found = []
        for sheet in self._documents[doc].Sheets:
            cells = {
                (row, column)
                for area in sheet.queryFormulaCells(ERROR_RESULT).RangeAddresses
                for row in range(area.StartRow, area.EndRow + 1)
                for column in range(area.StartColumn, area.EndColumn + 1)
            }
            cursor = sheet.createCursor()
            cursor.gotoEndOfUsedArea(False)
            end = cursor.RangeAddress
            used = sheet.getCellRangeByPosition(0, 0, end.EndColumn, end.EndRow)
            cells |= {
                (row, column)
                for row, line in enumerate(used.getDataArray())
                for column, held in enumerate(line)
                if isinstance(held, str) and ERROR_TEXT.fullmatch(held)
            }
            for row, column in sorted(cells):
                shown = str(sheet.getCellByPosition(column, row).String)
                found.append((str(sheet.Name), f"{letters(column)}{row + 1}", shown))
        return found

    # --- tabs ---

    def sheets(self, doc: int) -> list[str]:
        return [str(name) for name in self._documents[doc].Sheets.ElementNames]

    def rename(self, doc: int, tab: str, new: str) -> None:
        self._sheet(doc, tab).Name = new

    def hide(self, doc: int, tab: str) -> None:
        self._sheet(doc, tab).IsVisible = False

    def insert_rows(self, doc: int, tab: str, row: int, count: int) -> None:
        self._sheet(doc, tab).Rows.insertByIndex(row - 1, count)

    def delete_rows(self, doc: int, tab: str, row: int, count: int) -> None:
        self._sheet(doc, tab).Rows.removeByIndex(row - 1, count)

    def insert_columns(self, doc: int, tab: str, column: str, count: int) -> None:
        at = self._area(doc, tab, f"{column}1").RangeAddress.StartColumn
        self._sheet(doc, tab).Columns.insertByIndex(at, count)

    def delete_columns(self, doc: int, tab: str, column: str, count: int) -> None:
        at = self._area(doc, tab, f"{column}1").RangeAddress.StartColumn
        self._sheet(doc, tab).Columns.removeByIndex(at, count)

    def sort(self, doc: int, tab: str, area: str, column: str, ascending: bool) -> None:
        block = self._area(doc, tab, area)
        field = uno.createUnoStruct("com.sun.star.table.TableSortField")
        at = self._area(doc, tab, f"{column}1").RangeAddress.StartColumn
        field.Field = at - block.RangeAddress.StartColumn
        field.IsAscending = ascending
        fields = uno.Any("[]com.sun.star.table.TableSortField", (field,))
        block.sort((prop("SortFields", fields), prop("ContainsHeader", False)))

    def copy(self, doc: int, tab: str, area: str, cell: str) -> None:
        block = self._area(doc, tab, area)
        to = self._cell(doc, tab, cell).CellAddress
        self._sheet(doc, tab).copyRange(to, block.RangeAddress)

    def hide_rows(self, doc: int, tab: str, row: int, count: int) -> None:
        rows = self._sheet(doc, tab).Rows
        for index in range(row - 1, row - 1 + count):
            rows.getByIndex(index).IsVisible = False

    def frozen(self, doc: int, tab: str) -> tuple[int, int]:
        controller = self._documents[doc].CurrentController
        before = controller.ActiveSheet
        controller.setActiveSheet(self._sheet(doc, tab))
        found = (0, 0)
        if controller.hasFrozenPanes():
            found = (controller.SplitRow, controller.SplitColumn)
        controller.setActiveSheet(before)
        return found

    # --- looks ---

    def validation(self, doc: int, tab: str, cell: str) -> dict[str, Any]:
        check = self._cell(doc, tab, cell).Validation
        return {
            "type": check.Type.value.lower(),
            "operator": check.Operator.value.lower(),
            "formula1": check.getFormula1(),
            "formula2": check.getFormula2(),
            "base": f"{letters(check.getSourcePosition().Column)}{check.getSourcePosition().Row + 1}",
            "style": check.ErrorAlertStyle.value.lower(),
            "blank": bool(check.IgnoreBlankCells),
            "dropdown": bool(check.ShowList),
            "title": check.InputTitle if check.ShowInputMessage else "",
            "message": check.InputMessage if check.ShowInputMessage else "",
            "error_title": check.ErrorTitle if check.ShowErrorMessage else "",
            "error": check.ErrorMessage if check.ShowErrorMessage else "",
        }

    def conditional_formats(self, doc: int, tab: str) -> list[dict[str, Any]]:
        styles = self._documents[doc].StyleFamilies.getByName("CellStyles")
        found = []
        for rules in self._sheet(doc, tab).ConditionalFormats.getConditionalFormats():
            ranges = [area_text(area) for area in rules.Range.RangeAddresses]
            for index in range(rules.getCount()):
                rule = rules.getByIndex(index)
                entry = {
                    "ranges": ranges,
                    "kind": FORMAT_KINDS.get(rule.getType(), str(rule.getType())),
                    "operator": "",
                    "formula": "",
                    "fill": None,
                    "ink": None,
                }
                if rule.getType() == 0:
                    style = styles.getByName(rule.StyleName)
                    entry["operator"] = OPERATORS.get(rule.Operator, str(rule.Operator))
                    entry["formula"] = rule.Formula1
                    entry["fill"] = colour(style.CellBackColor)
                    entry["ink"] = colour(style.CharColor)
                found.append(entry)
        return found

    def layout(self, doc: int, tab: str) -> dict[str, Any]:
        """What the HTML export of a tab leaves out: where it begins, which lines are hidden."""
        sheet = self._sheet(doc, tab)
        if not sheet.IsVisible:
            raise RefusedError(f"{tab} is hidden: it shows nothing")
        if not sheet.queryContentCells(ANY_CONTENT).RangeAddresses:
            raise RefusedError(f"{tab} is empty: LibreOffice's HTML leaves it out")
        cursor = sheet.createCursor()
        cursor.gotoStartOfUsedArea(False)
        start = cursor.RangeAddress
        cursor.gotoEndOfUsedArea(False)
        end = cursor.RangeAddress
        rows = range(start.StartRow, end.EndRow + 1)
        columns = range(start.StartColumn, end.EndColumn + 1)
        return {
            "index": self.sheets(doc).index(tab),
            "rows": [row + 1 for row in rows if sheet.Rows.getByIndex(row).IsVisible],
            "columns": [col + 1 for col in columns if sheet.Columns.getByIndex(col).IsVisible],
        }

    def end(self) -> None:
        for document in self._documents.values():
            document.close(True)
        self._documents.clear()
        self._desktop.terminate()


VERBS = frozenset(name for name in vars(Server) if not name.startswith("_"))


def answer(server: Server, line: str) -> dict[str, Any]:
    asked = json.loads(line)
    if asked["do"] not in VERBS:
        return {"error": f"no such verb: {asked['do']}"}
    try:
        return {"ok": getattr(server, asked["do"])(**asked["args"])}
    except RefusedError as error:
        return {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - uno's exceptions share no base; all go to the client
        said = str(getattr(error, "Message", "")) or str(error)
        text = f"{type(error).__name__}: {said}"
        return {"error": text} if server.alive() else {"lost": text}


def main() -> None:
    def say(message: dict[str, Any]) -> None:
        print(json.dumps(message), flush=True)

    try:
        server = Server(connect(sys.argv[1], float(sys.argv[2])))
    except RefusedError as error:
        say({"lost": str(error)})
        return
    say({"ok": "ready"})
    for line in sys.stdin:
        say(answer(server, line))
    if server.alive():
        server.end()


if __name__ == "__main__":
    main()
