"""``tally-harness``: one module per subcommand, imported when it is called."""

from harness.cli.main import main

__all__ = ["main"]
