"""The rules of the Composer Auction. Standard library only; knows no spreadsheet."""
