"""Each question and the outline of its answer: decide, classes, margin, mistakes, clean, regions, logistic."""
