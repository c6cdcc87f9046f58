"""Makes the pictures of the README from a real game: python docs/pictures.py [FOLDER].

Twelve made-up players play a match through the host's own verbs; LibreOffice shows the tabs, with
a few slips typed into them as they happen to people, and prints what stands in docs/pictures.
Needs LibreOffice with python3-uno, and pdftoppm (poppler-utils).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the helpers beside the tests

from sheets_host.game.stages import Stage  # noqa: E402
from tests.office import Document, Office, OfficeMissingError  # noqa: E402
from tests.played import names, play  # noqa: E402

LARGEST: Final = 100_000  # bytes; pictures beyond it are drawn smaller
RESOLUTIONS: Final = (110, 100, 90, 80, 70, 60)  # dots an inch
FOOTER: Final = 0.75  # inches at the foot of a page that are left out
MOST_ROWS: Final = 90  # that a tab of such a game holds
MARGIN: Final = 6  # pixels around what is shown


@dataclass(frozen=True, slots=True)
class Picture:
    """One tab at one moment. typed: what someone types first, by cell; last: row that shows."""

    name: str
    tab: str
    stage: Stage
    typed: Mapping[str, str] = field(default_factory=dict)
    last: int = 0


PICTURES: Final = (
    # A bid that is no whole number, and one that is more than its player holds.
    Picture("bids", "Bids", Stage.ROUND_3, {"G25": "5.5", "L24": "400"}, 38),
    # A note that stands twice, and one that is still to be placed.
    Picture("compositions", "Compositions", Stage.COMPOSING, {"G10": "G# whole", "M11": ""}, 24),
    Picture("standings", "Standings", Stage.FINISHED),
    Picture("balances", "Balances", Stage.FINISHED, last=40),
    Picture("conditions", "Conditions", Stage.FINISHED),
    Picture("auction", "Auction", Stage.ROUND_3, last=36),
)


def main(folder: Path, pictures: Sequence[Picture] = PICTURES) -> None:
    """Draw these pictures into a folder. Raises OfficeMissingError without the programs."""
    program = shutil.which("pdftoppm")
    if program is None:
        raise OfficeMissingError("pdftoppm (poppler-utils) is not here")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, Office(timeout=60) as office:
        for picture in pictures:
            book = Path(scratch) / f"{picture.stage.name}.xlsx"
            if not book.exists():
                play(book, names(12), picture.stage)
            pdf = Path(scratch) / f"{picture.name}.pdf"
            with office.open(book) as doc:
                _show(doc, picture)
                doc.pdf(pdf)
            target = folder / f"{picture.name}.png"
            _draw(program, pdf, target)
            print(f"{target}: {target.stat().st_size:,} bytes")


def _show(doc: Document, picture: Picture) -> None:
    for cell, text in picture.typed.items():
        doc.type(picture.tab, cell, text)
    if picture.last:
        doc.hide_rows(picture.tab, picture.last + 1, MOST_ROWS - picture.last)
    for tab in doc.sheets():
        if tab != picture.tab:
            doc.hide(tab)


def _draw(program: str, pdf: Path, target: Path) -> None:
    """Draw the first page without its margins, as large as the largest file allows."""
    for dpi in RESOLUTIONS:
        left, top, width, height = _extent(program, pdf, dpi)
        crop = ["-x", left, "-y", top, "-W", width, "-H", height]
        _pdftoppm(program, pdf, dpi, ["-png", *map(str, crop)], target.with_suffix(""))
        if target.stat().st_size < LARGEST:
            return


def _extent(program: str, pdf: Path, dpi: int) -> tuple[int, int, int, int]:
    """Return left, top, width and height in pixels of what stands on the first page."""
    grey = pdf.with_suffix(".pgm")
    _pdftoppm(program, pdf, dpi, ["-gray"], grey.with_suffix(""))
    _, size, _, pixels = grey.read_bytes().split(b"\n", 3)
    across, down = map(int, size.split())
    bottom = down - round(FOOTER * dpi)
    rows = [pixels[row * across : (row + 1) * across] for row in range(bottom)]
    blank = b"\xff" * across
    used = [number for number, row in enumerate(rows) if row != blank]
    left = min(across - len(rows[n].lstrip(b"\xff")) for n in used)
    right = max(len(rows[n].rstrip(b"\xff")) for n in used)
    x, y = max(0, left - MARGIN), max(0, used[0] - MARGIN)
    return x, y, min(across, right + MARGIN) - x, min(bottom, used[-1] + MARGIN) - y


def _pdftoppm(program: str, pdf: Path, dpi: int, options: Sequence[str], target: Path) -> None:
    command = [program, *options, "-r", str(dpi), "-f", "1", "-singlefile", str(pdf), str(target)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)  # noqa: S603


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
    except OfficeMissingError as missing:
        sys.exit(str(missing))
