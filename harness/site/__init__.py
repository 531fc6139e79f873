"""The site: prose of docs/ with the executed parts put in, in five languages, for MkDocs."""
