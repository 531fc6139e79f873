"""Notebooks: made of scripts in percent format, executed by papermill under observation, judged by the specimen's evidence."""
