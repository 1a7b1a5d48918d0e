"""What theory promises, with numbers: how often a hyperplane is wrong about new rows, and when that says something.

    promises                        every theorem below, for one table
    novikoff, bits                  the Perceptron's updates, and the length of its weights
    cover, labelings                would random labels be separable too? how many labelings are?
    vc, occam                       every hyperplane with few mistakes on the rows, or with short integer weights
    margin                          every hyperplane with a wide margin
    compression, leave_one_out      a hyperplane that few of the rows determine
    online                          the weights of one pass, each tested on the next row

Each theorem is a `Promise`: what it says here, its formula, conditions and source, the number, and how many rows it
needs to say something.
"""

from linsep.theory.promise import Promise
from linsep.theory.table_promises import Promises, promises
from linsep.theory.theorems import (
    bits,
    compression,
    cover,
    labelings,
    leave_one_out,
    margin,
    novikoff,
    occam,
    online,
    vc,
)

__all__ = [
    "Promise", "Promises", "bits", "compression", "cover", "labelings", "leave_one_out", "margin", "novikoff", "occam",
    "online", "promises", "vc",
]  # fmt: skip
