"""The compiled loops: the only place where speed is written by hand."""
