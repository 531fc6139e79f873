"""The diagnosis: watch a script, walk the pipeline, name the first cause."""
