"""Child processes: one fresh or forked from a warm parent, in a group of its own, with a timeout, ended whole."""
