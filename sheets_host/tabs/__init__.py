"""What each tab looks like, and how it is read. Knows no store."""
