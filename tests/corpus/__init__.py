"""Training scripts as different people write them, and what `diagnose` has to say of each: a folder per framework."""
