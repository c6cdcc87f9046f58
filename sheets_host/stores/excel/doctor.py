"""What is right and what is not with a workbook in a file. Changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

from sheets_host.stores.base import Finding, StoreError
from sheets_host.stores.excel.locks import holders
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.saving import advice, backup_folder, read_file


def diagnose(path: Path, name: str) -> tuple[Finding, ...]:
    """Look at the file, its folder, who has it open, and the backups."""
    try:
        package = Package.open(read_file(path), name)
        package.check_all()
    except StoreError as error:
        return (Finding(False, error.message, error.hint),)
    tabs = f"{len(package.sheets)} tab{'s' * (len(package.sheets) != 1)}"
    findings = [Finding(True, f"{name} is whole: {tabs}.")]
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        findings.append(Finding(True, f"The file and its folder {path.parent} can be written."))
    else:
        findings.append(
            Finding(
                False,
                f"{path} or its folder is read-only.",
                "clear the file's read-only mark, or move it to a folder of yours",
            )
        )
    for holder in holders(path):
        if holder.stale:
            findings.append(
                Finding(
                    None,
                    f"{holder.file.name} was left behind by {holder.program}, which no longer"
                    " runs.",
                    f"delete {holder.file}",
                )
            )
        else:
            findings.append(
                Finding(
                    False,
                    f"{holder.program} has the workbook open ({holder.who}).",
                    "save and close it there; a lock left behind is passed with --ignore-lock",
                )
            )
    findings.append(_backups(path))
    return tuple(findings)


def _backups(path: Path) -> Finding:
    folder = backup_folder(path)
    try:
        kept = len(list(folder.iterdir())) if os.path.lexists(folder) else 0
        # Looked for, since a name may be there to read and yet too long for those of backups.
        folder.with_name(f"{folder.name} 2026-11-29 201500Z before-closing-composing").exists()
    except OSError as error:
        return Finding(
            False, f"Backups cannot be kept in {folder} ({error.strerror}).", advice(error)
        )
    if not kept:
        return Finding(True, f"No backups yet in {folder}.")
    what = "1 backup or copy lies" if kept == 1 else f"{kept} backups and copies lie"
    return Finding(True, f"{what} in {folder}.")
