"""Online learning: predict each row, then learn from it; and the file from which a stream goes on."""

from linsep.online.online_perceptron import Counts, OnlinePerceptron

__all__ = ["Counts", "OnlinePerceptron"]
