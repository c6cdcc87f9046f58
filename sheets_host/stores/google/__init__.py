"""Tabs in a Google Sheet, through the Sheets API v4: one read and at most one write a sync."""

from sheets_host.stores.google.store import GoogleStore, parse_reference

__all__ = ["GoogleStore", "parse_reference"]
