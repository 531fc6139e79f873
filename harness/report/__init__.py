"""Renderers: records in, text out. Pure functions."""
