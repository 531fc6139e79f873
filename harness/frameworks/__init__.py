"""Observing the real frameworks from outside. Nothing here is imported by the CLI; torch and TensorFlow load inside functions."""
