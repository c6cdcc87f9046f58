"""Where tabs live: an Excel workbook or a Google Sheet. Knows no rule of the game."""
