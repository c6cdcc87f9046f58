"""Excel workbooks: read cell by cell, written by grafting tabs into the package.

Way in:  store → preflight (is it a workbook?) → package (its parts) → reading (grids of cells),
         from scanning (one sheet's XML), texts and formats, with parsing (bounded expat) below.
Way out: store → grafting → rendering (a sheet's markup), from rows and stylesheet, with charts,
         blank and splicing (XML changed in place) below → repacking (a new zip)
         → saving (the file replaced whole, backups), behind locks.
"""

from sheets_host.stores.excel.store import ExcelStore

__all__ = ["ExcelStore"]
