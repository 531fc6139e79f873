"""Tests mirror the layout of the harness; `test_zoo.py` runs the catalogue itself."""
