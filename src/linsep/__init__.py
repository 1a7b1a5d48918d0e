"""Can a hyperplane separate the two classes? The answer, with a proof."""
