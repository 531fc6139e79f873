"""The checks: pure functions of what was observed, a class each, a file per stage."""
