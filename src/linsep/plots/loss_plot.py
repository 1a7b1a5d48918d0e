"""The losses that are minimised in practice, against the 0-1 loss that they stand for."""

from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.losses import Loss, hinge, logistic, perceptron, zero_one
from linsep.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REACH = 3.0  # of y·score, to either side
SURROGATES: tuple[tuple[Loss, str, Any], ...] = (
    (perceptron, style.NEGATIVE, "-"),
    (hinge, style.POSITIVE, "-"),
    (logistic, "#2f9b74", (0, (5, 2))),
)


def losses(*, ax: "Axes | None" = None) -> "Axes":
    """Draw the perceptron, hinge and logistic losses of a row against the 0-1 loss: left of 0 it is a mistake.

    Parameters
    ----------
    ax : Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        With the drawing.

    Examples
    --------
    >>> import linsep
    >>> ax = linsep.plots.losses()
    >>> [line.get_label() for line in ax.lines][:4]
    ['0-1', 'perceptron', 'hinge', 'logistic']
    """
    ax = style.canvas(ax, (6.0, 3.8))
    step = np.array([-REACH, 0, np.nextafter(0, 1), REACH])  # 1 up to and including 0, then 0
    drawn = ax.plot(step, zero_one(step), color=style.tint(style.ink(), ax, 0.75), lw=4, label=zero_one.name, gid="0-1")
    score = np.linspace(-REACH, REACH, 601)
    for loss, color, line in SURROGATES:
        drawn += ax.plot(score, loss(score), color=color, ls=line, lw=1.8, label=loss.name, gid=loss.name)
    ax.axvspan(-REACH, 0, color=style.tint(style.ink(), ax, 0.05), lw=0, zorder=0, gid="mistakes")
    ax.text(-REACH + 0.08, 0.05, "mistakes", color=style.tint(style.ink(), ax, 0.6), fontsize="small", va="bottom")
    style.tidy(ax, "Losses of a row", drawn)
    ax.set(xlabel="$y\\cdot$score", ylabel="loss", xlim=(-REACH, REACH), ylim=(-0.08, 1 + REACH))
    return ax
