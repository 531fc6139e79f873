"""The catalogue: every specimen, read from its own folder."""
