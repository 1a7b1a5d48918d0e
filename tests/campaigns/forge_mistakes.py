"""Small tables against brute force, and forged bounds.

    python -m tests.campaigns.forge_mistakes [TABLES] [FORGERIES] [SEED]

More than half of the tables lie on a grid, with ties, copies and contradictions; some have costs, some no bias. Both
ends must be those of brute force in Fractions, and the proof must pass `verify` and the stand-alone checker. So must
the same proof with some of its obstructions as positive-definite ones (version 5). Then each proof, of either version,
is changed at random, sealed anew and given to both. Whatever one of them accepts must be true, by brute force, and both
must say the same. (But without a bias x and -x of the other class are copies to the checker, not to `verify`.)
"""

import io
import itertools
import json
import random
import sys
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import linsep
from linsep import checker
from tests import naive
from tests.campaigns import forge

MOST = 3  # changes of a proof at a time


def instance(rng: np.random.Generator) -> tuple[Any, Any, list[int] | None, bool]:
    """Few rows in few columns."""
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)).astype(float) if rng.random() < 0.6 else rng.standard_normal((n, d))
    y = np.where(np.arange(n) < 2, [1, -1] * (n // 2) + [1] * (n % 2), rng.choice([-1, 1], n))
    cost = rng.integers(0, 5, n).tolist() if rng.random() < 0.4 else None
    return X, y, cost, bool(rng.random() < 0.7)


# Changes of a document, each at a random place ----------------------------------------------------------


def bump(rng: random.Random, written: str) -> str:
    value = int(written)
    return str(rng.choice([value + 1, value - 1, 2 * value, value // 2, 0, value + rng.randrange(5)]))


def one_of(rng: random.Random, values: list[str], change: Any) -> None:
    if values:
        k = rng.randrange(len(values))
        values[k] = change(rng, values[k])


def higher(rng: random.Random, proof: Any) -> None:
    proof["least"] = str(int(proof["least"]) + rng.randrange(1, 4))


def other_rows(rng: random.Random, proof: Any) -> None:
    if proof["obstructions"]:
        one = rng.choice(proof["obstructions"])
        one_of(rng, one[rng.choice(["rows", "weights"])], bump)


def other_units(rng: random.Random, proof: Any) -> None:
    one_of(rng, rng.choice(proof["leaves"])["units"], bump)


def other_obstruction(rng: random.Random, proof: Any) -> None:
    leaf, known = rng.choice(proof["leaves"]), len(proof["obstructions"]) + len(proof.get("definite_obstructions", ()))
    one_of(rng, leaf["obstructions"], lambda rng, old: str(rng.randrange(known + 1)))


def more_obstructions(rng: random.Random, proof: Any) -> None:
    leaf = rng.choice(proof["leaves"])
    if known := len(proof["obstructions"]) + len(proof.get("definite_obstructions", ())):
        leaf["obstructions"].append(str(rng.randrange(known)))
        leaf["units"].append(str(rng.choice([1 << 20, 1 << 19, 3])))


def other_case(rng: random.Random, proof: Any) -> None:
    leaf = rng.choice(proof["leaves"])
    if leaf["right"]:
        k = rng.randrange(len(leaf["right"]))
        leaf["right"][k] = not leaf["right"][k]


def split_case(rng: random.Random, proof: Any) -> None:
    leaf, row = rng.choice(proof["leaves"]), str(rng.randrange(int(proof["data"]["rows"])))
    others = [json.loads(json.dumps(leaf)) for _ in range(rng.randrange(1, 3))]
    for k, one in enumerate(others):
        one["rows"].append(row)
        one["right"].append(bool(k))
    proof["leaves"].remove(leaf)
    proof["leaves"] += others


def fewer_cases(rng: random.Random, proof: Any) -> None:
    if len(proof["leaves"]) > 1:
        proof["leaves"].remove(rng.choice(proof["leaves"]))


def other_copies(rng: random.Random, proof: Any) -> None:
    rows = rng.sample(range(int(proof["data"]["rows"])), 2)
    proof["copies"].append([str(row) for row in rows])


def fewer_copies(rng: random.Random, proof: Any) -> None:
    if proof["copies"]:
        proof["copies"].remove(rng.choice(proof["copies"]))


def other_costs(rng: random.Random, proof: Any) -> None:
    if proof["costs"] is None:
        proof["costs"] = ["1"] * int(proof["data"]["rows"])
    one_of(rng, proof["costs"], bump)


def other_mistakes(rng: random.Random, proof: Any) -> None:
    one_of(rng, proof["mistaken_rows"], bump)


def other_plane(rng: random.Random, proof: Any) -> None:
    one_of(rng, proof["separator"]["weights"], bump)


# Positive-definite obstructions --------------------------------------------------------------------------


def in_version_5(proof: Any, Z: list[list[Any]], rng: random.Random) -> Any:
    """The same proof with some obstructions as positive-definite ones, the weights a little off."""
    count = len(proof["obstructions"])
    if not count:
        return None
    chosen = set(rng.sample(range(count), rng.randint(1, count)))
    order = [k for k in range(count) if k not in chosen] + sorted(chosen)
    found = json.loads(json.dumps(proof)) | {"version": "5"}
    found["obstructions"] = [proof["obstructions"][k] for k in order if k not in chosen]
    found["definite_obstructions"] = [as_definite(proof["obstructions"][k], Z, rng) for k in sorted(chosen)]
    for leaf in found["leaves"]:
        leaf["obstructions"] = [str(order.index(int(k))) for k in leaf["obstructions"]]
    return found if all(found["definite_obstructions"]) else None


def as_definite(part: Any, Z: list[list[Any]], rng: random.Random) -> Any:
    """Rows and weights as texts, and the dependences of their columns; None if the rows are all 0."""
    pairs = sorted((int(i), int(u, 0)) for i, u in zip(part["rows"], part["weights"], strict=True))
    rows, noise = [Z[i] for i, _ in pairs], rng.choice([0, 0, 1])
    used = [j for j in range(len(rows[0])) if any(z[j] for z in rows)]
    if not used:
        return None
    named = [{"columns": [*map(str, c)], "weights": [*map(str, v)]} for c, v in forge.dependences(rows, used)]
    steps = [pairs[0][0], *(after - before for (before, _), (after, _) in itertools.pairwise(pairs))]
    weights = [10**7 * u + rng.randint(-noise, noise) for _, u in pairs]
    return {"steps": " ".join(map(str, steps)), "weights": " ".join(map(str, weights)), "dependences": named}


def other_definite(rng: random.Random, proof: Any) -> None:
    """Another step or weight, one more or one less."""
    one = rng.choice(proof.get("definite_obstructions") or [{}])
    if one:
        name = rng.choice(["steps", "weights"])
        words = one[name].split(" ")
        draw = rng.randrange(4)
        if draw == 0 and len(words) > 1:
            words.pop(rng.randrange(len(words)))
        elif draw == 1:
            words.append(rng.choice(["1", "2", "10000000"]))
        else:
            one_of(rng, words, bump)
        one[name] = " ".join(words)


def fewer_rows(rng: random.Random, proof: Any) -> None:
    """A positive-definite obstruction without its last row."""
    one = rng.choice(proof.get("definite_obstructions") or [{}])
    for name in ("steps", "weights") if one else ():
        one[name] = " ".join(one[name].split(" ")[:-1] or ["0"])


def other_dependence(rng: random.Random, proof: Any) -> None:
    one = rng.choice(proof.get("definite_obstructions") or [{}])
    if one:
        forge.change_dependence({"definite": one}, forge.Table([[0.0] * int(proof["data"]["columns"])], []), rng)


def other_version(rng: random.Random, proof: Any) -> None:
    draw = rng.randrange(3)
    if draw == 0:
        proof["version"] = "4" if proof["version"] == "5" else "5"
    elif draw == 1 and proof["version"] == "5":
        proof["definite_obstructions"] = []
    elif proof["version"] == "5":
        proof["definite_obstructions"].append(rng.choice([*proof["definite_obstructions"], {}]))


CHANGES = (
    higher,
    higher,
    higher,
    other_rows,
    other_units,
    other_obstruction,
    more_obstructions,
    other_case,
    split_case,
)
CHANGES += (fewer_cases, other_copies, fewer_copies, other_costs, other_mistakes, other_plane)
DEFINITE = (other_definite, other_definite, fewer_rows, other_dependence, other_version)


# The campaign -------------------------------------------------------------------------------------------


@dataclass
class Campaign:
    """What was seen."""

    folder: Path
    tables: int = 0
    forged: int = 0
    later: int = 0  # of version 5
    accepted: int = 0
    later_accepted: int = 0
    faults: list[str] = field(default_factory=list)

    def table(self, X: Any, y: Any, cost: list[int] | None, bias: bool, forgeries: int, rng: random.Random) -> None:
        """One table, its proof, and forgeries of it."""
        self.tables += 1
        found = linsep.fewest_mistakes(X, y, cost=cost, bias=bias, time_limit=60)
        truth = naive.fewest_mistakes(X.tolist(), y.tolist(), cost or [1] * len(y), bias)
        found = replace(found, names=tuple(f"x{j}" for j in range(X.shape[1])), label_column="y")
        lines = [",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
        (self.folder / "rows.csv").write_text(",".join([*(found.names or ()), "y"]) + "\n" + "\n".join(lines) + "\n")
        if not found.best == found.lower == truth or not all(self.judged(found.to_json(), X, y)):
            self.faults.append(
                f"best {found.best}, lower {found.lower}, true {truth}: {X.tolist()}, {y}, {cost}, {bias}"
            )
        written = json.loads(found.to_json())
        later = in_version_5(written, naive.signed_rows(X, y, bias), rng)
        if later is not None and not all(self.judged(forge.resealed(later), X, y)):
            self.faults.append(f"version 5 is refused: {json.dumps(later)}")
        for k in range(forgeries):
            proof = json.loads(json.dumps(later if later is not None and k % 2 else written))
            changes = CHANGES + DEFINITE * (1 + 2 * ("definite_obstructions" in proof))
            for change in rng.sample(changes, rng.randrange(1, MOST + 1)):
                change(rng, proof)
            self.forgery(proof, X, y, bias)

    def forgery(self, proof: Any, X: Any, y: Any, bias: bool) -> None:
        """One forgery: what is accepted must be true."""
        self.forged += 1
        self.later += proof["version"] == "5"
        library, alone = self.judged(forge.resealed(proof), X, y)
        if (library and not alone) or (alone and not library and (bias or not proof["copies"])):
            self.faults.append(f"verify says {library}, the checker {alone}: {json.dumps(proof)}")
        if library or alone:
            self.accepted += 1
            self.later_accepted += proof["version"] == "5"
            costs = [1] * len(y) if proof["costs"] is None else [int(cost) for cost in proof["costs"]]
            truth = naive.fewest_mistakes(X.tolist(), y.tolist(), costs, bias)
            if int(proof["least"]) > truth:
                self.faults.append(f"a false bound is accepted, {proof['least']} for {truth}: {json.dumps(proof)}")

    def judged(self, text: str, X: Any, y: Any) -> tuple[bool, bool]:
        """What `verify` and the checker say."""
        try:
            linsep.verdict_from_json(text).verify(X, y)
            library = True
        except linsep.CertificateError:
            library = False
        (self.folder / "proof.json").write_text(text)
        with redirect_stdout(io.StringIO()):
            return library, checker.main([str(self.folder / "proof.json"), str(self.folder / "rows.csv")]) == 0


def main(tables: int, forgeries: int, seed: int) -> int:
    """Run the campaign; 1 if anything was wrong."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder))
        for k in range(tables):
            share = forgeries * (k + 1) // tables - forgeries * k // tables
            campaign.table(*instance(np.random.default_rng([seed, k])), share, random.Random(f"{seed} {k}"))
    for fault in campaign.faults[:10]:
        print(fault)
    print(
        f"{campaign.tables:,} tables against brute force, {campaign.forged:,} forged bounds, of which "
        f"{campaign.accepted:,} are true and accepted; of version 5 {campaign.later:,} and "
        f"{campaign.later_accepted:,}; {len(campaign.faults)} faults"
    )
    return int(bool(campaign.faults))


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [2000, 100_000, 0][len(given) :])))
