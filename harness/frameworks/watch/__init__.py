"""Watching a script closely for the diagnosis: everything an `Observation` holds is filled here, from outside, and undone at the end."""
