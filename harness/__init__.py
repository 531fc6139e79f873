"""The Bug Zoo: training failures that can be run, diagnosed and fixed."""

__version__ = "0.1.0"
