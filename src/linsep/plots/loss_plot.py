"""The losses that practice minimises, against the one that is meant."""

from typing import TYPE_CHECKING

import numpy as np

from linsep import losses as known
from linsep.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REACH = 3.0  # of y·score, to either side
LINES = {"perceptron": (style.NEGATIVE, "-"), "hinge": (style.POSITIVE, "-"), "logistic": ("#2f9b74", (0, (5, 2)))}


def losses(*, ax: "Axes | None" = None) -> "Axes":
    """Draw the perceptron, hinge and logistic losses of a row against the 0-1 loss: left of 0 it is a mistake.

    >>> import linsep
    >>> ax = linsep.plots.losses()
    >>> [line.get_label() for line in ax.lines][:4]
    ['0-1', 'perceptron', 'hinge', 'logistic']
    """
    ax = style.canvas(ax, (6.0, 3.8))
    score = np.linspace(-REACH, REACH, 601)
    drawn = []
    for loss in known.ALL:
        if loss is known.zero_one:  # a step, not a slope: 1 up to 0 and 0 from there on
            at, color, width, line = (
                np.array([-REACH, 0, np.nextafter(0, 1), REACH]),
                style.tint(style.ink(), ax, 0.75),
                4.0,
                "-",
            )
        else:
            at, (color, line), width = score, LINES[loss.name], 1.8
        drawn += ax.plot(at, loss(at), color=color, ls=line, lw=width, label=loss.name, gid=loss.name)
    ax.axvspan(-REACH, 0, color=style.tint(style.ink(), ax, 0.05), lw=0, zorder=0, gid="mistakes")
    ax.text(-REACH + 0.08, 0.05, "mistakes", color=style.tint(style.ink(), ax, 0.6), fontsize="small", va="bottom")
    style.tidy(ax, "Losses of a row", drawn)
    ax.set(xlabel="$y\\cdot$score", ylabel="loss", xlim=(-REACH, REACH), ylim=(-0.08, 1 + REACH))
    return ax
