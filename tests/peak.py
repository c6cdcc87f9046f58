"""The most memory that a process has held."""

from __future__ import annotations

import re
from pathlib import Path


def peak() -> float:
    """Return the most megabytes that this process has held (Linux and macOS)."""
    import resource

    status = Path("/proc/self/status")
    if status.exists():  # getrusage counts what the parent held, too, there
        found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text())
        assert found
        return int(found[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
