"""The Perceptron and its family, on any source: perceptron.py has the theorem and the rule."""
