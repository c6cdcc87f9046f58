"""One function per verb: read, decide, write. What a verb decides is pure; stores only carry."""
