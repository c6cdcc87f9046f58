"""Run the command line as ``python -m sheets_host``."""

from sheets_host.cli import main

if __name__ == "__main__":
    main()
