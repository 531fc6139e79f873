"""Judging a run by what the framework really did."""
