"""One page about a table."""
