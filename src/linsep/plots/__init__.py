"""Pictures of separable and impossible data, drawn with matplotlib (the extra `plots`).

    regions       two columns: the two sides and the margin, or the rows, hulls and point that forbid a line
    separation    any number of columns: distance to the hyperplane against the widest direction within it
    mistakes      the Perceptron's mistakes in each pass
    bound         the two curves of Novikoff's proof, and the wall where they meet
    losses        the losses that are minimised in practice, against the 0-1 loss
    weights       weights as images, one for each class
    animate       a run of the Perceptron as a film: GIF, MP4 or animated SVG
    verdicts      every pair of classes: separable, touching or overlapping

All but `animate`, which writes a file, take `ax=` and return the Axes they drew on (`weights`: an array of them). They
follow the current rcParams without changing them. matplotlib is loaded by the first picture, not by the import of this
module.
"""

from linsep.plots.animation import animate
from linsep.plots.loss_plot import losses
from linsep.plots.panels import verdicts, weights
from linsep.plots.region_plot import regions
from linsep.plots.runs import bound, mistakes
from linsep.plots.view import separation

__all__ = ["animate", "bound", "losses", "mistakes", "regions", "separation", "verdicts", "weights"]
