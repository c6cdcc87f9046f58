"""Excel workbooks: read cell by cell, written by grafting tabs into the package."""

from sheets_host.stores.excel.store import ExcelStore

__all__ = ["ExcelStore"]
