"""Where rows come from: each source answers questions about a vector."""
