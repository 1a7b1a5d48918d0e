"""`linsep verify`, the stand-alone checker and the one extracted from the theorems, on the same proofs and forgeries.

    python -m tests.campaigns.three_checkers [cases] [seed]

The cases are those of five campaigns: proofs of small tables and every change of them (`forge.py`), proofs of other
files, columns, rows and labels under a user's options (`forge_files.py`), positive-definite proofs
(`forge_definite.py`), bounds on mistakes (`forge_mistakes.py`) and proofs about many classes (`forge_classes.py`), each
with the judges it has there. The extracted checker must answer with the exit status of the stand-alone one, and in the
same words, unless the input is bad.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from linsep import checker
from linsep.storage.checksum import seal
from tests.campaigns import forge, forge_classes, forge_definite, forge_files, forge_mistakes
from tests.extracted import Extracted

VERDICTS = ("verified", "refuted", "bad input", "undecided")


class Bench:
    """The stand-alone checker and the extracted one, side by side."""

    def __init__(self, folder: Path, extracted: Extracted) -> None:
        self.paths = folder / "proof.json", folder / "data.csv"
        self.extracted = extracted
        self.asked: Counter[tuple[str, str]] = Counter()
        self.faults: list[str] = []
        self.cases: list[tuple[bytes, str, list[str], int, str]] = []  # for the mutants

    def hear(self, campaign: str, proof: bytes, data: str, options: list[str] | None = None) -> int:
        """Both answers to one case; the exit status of the stand-alone one."""
        self.paths[0].write_bytes(proof)
        self.paths[1].write_text(data, encoding="utf-8", newline="")
        words = [*map(str, self.paths), *(options or [])]
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = checker.main(words)
        other, text = self.extracted.ask(words)
        same = other == status and (status == checker.BAD_INPUT or said.getvalue() == text + "\n")
        if not same:
            self.faults.append(
                f"{campaign}: {said.getvalue()!r}, but extracted: {text!r}\n{proof[:3000]!r}\n{data}\n{options}"
            )
        self.asked[campaign, VERDICTS[status]] += 1
        self.cases.append((proof, data, options or [], status, text))
        return status

    def told(self) -> str:
        """A table of what was asked and answered."""
        names = sorted({campaign for campaign, _ in self.asked})
        lines = [f"{'':<22}" + "".join(f"{verdict:>12}" for verdict in VERDICTS)]
        lines += [
            f"{name:<22}" + "".join(f"{self.asked[name, verdict]:>12,}" for verdict in VERDICTS) for name in names
        ]
        return "\n".join([*lines, f"{self.asked.total():,} cases, {len(self.faults)} differences"])


class ForgeCourt(forge.Court):
    """The three judges of `forge.py`, and the bench."""

    bench: Bench

    def checker_accepts(self, proof: bytes, table: forge.Table) -> bool:
        return self.bench.hear("small tables", proof, table.csv(), ["--label", str(len(table.rows[0]))]) == 0


def small_tables(bench: Bench, count: int, seed: int) -> None:
    """Proofs of small tables, and all that a mistake or a forger makes of them."""
    court, rng = ForgeCourt(bench.paths[0].parent), random.Random(seed)
    court.bench = bench
    for table, verdict in forge.tables(seed):
        proof = verdict.to_json().encode()
        document = forge.json.loads(proof)
        court.hear(proof, table, forge.judge(document, table), True, "dense")
        for _ in range(8):
            forge.hear_forgery(court, forge.copy.deepcopy(document), forge.copy.deepcopy(table), rng)
        if court.accepted + court.refused >= count:
            return


def other_files(bench: Bench, count: int, seed: int) -> None:
    """Proofs that are true of something other than the file."""
    rng = random.Random(seed)
    for _ in range(count):
        document = None
        while document is None:
            known = forge_files.world(rng)
            _, document = forge_files.forged(known, rng)
        options = forge_files.asked(known, document, rng)
        words = [*itertools.chain(*([k] if v is True else [k, v] for k, v in options.items()))]
        if rng.random() < 0.5:
            words.append("--json")
        bench.hear("other files", forge.resealed(document).encode(), known.text(), words)


def definite(bench: Bench, count: int, seed: int) -> None:
    """Positive-definite proofs, and changes of them; `verify` looks at each as well."""
    rng = np.random.default_rng(seed)
    for claim, name in itertools.islice(_definite_claims(seed, rng), count):
        library = forge_definite.library_accepts(claim, bool(rng.random() < 0.3))
        alone = bench.hear("positive definite", _sealed(claim), _rows(claim)) == 0
        if library != alone:
            bench.faults.append(f"verify {library}, the checker {alone}: {name} {claim}")


def _definite_claims(seed: int, rng: Any) -> Iterator[tuple[forge_definite.Claim, str]]:
    for true in forge_definite.claims(seed):
        yield true, "nothing changed"
        for _ in range(20):
            if (found := forge_definite.forged(true, rng)) is not None:
                yield found


def _sealed(claim: forge_definite.Claim) -> bytes:
    proof = forge_definite.written(claim)
    proof = {"format": "linsep-proof", "version": "2", **proof, "effort": {"reads": "1", "seconds": 0.0}}
    proof["data"] |= {"labels": ["integer:-1", "integer:1"], "names": None, "label_column": None}
    proof.pop("classes", None)
    if claim.separator is None:
        proof = {name: part for name, part in proof.items() if name not in ("separator", "separated_rows")}
    return seal(forge.json.dumps(proof)).encode()


def _rows(claim: forge_definite.Claim) -> str:
    lines = zip(claim.X.tolist(), claim.y.tolist(), strict=True)
    return "".join(",".join(map(repr, [*row, label])) + "\n" for row, label in lines)


class MistakesCampaign(forge_mistakes.Campaign):
    """The judges of `forge_mistakes.py`, and the bench."""

    bench: Bench

    def judged(self, text: str, X: Any, y: Any) -> tuple[bool, bool]:
        library, alone = super().judged(text, X, y)
        rows = (self.folder / "rows.csv").read_text("utf-8")
        assert (self.bench.hear("mistakes", text.encode(), rows) == 0) == alone
        return library, alone


def mistakes(bench: Bench, count: int, seed: int) -> None:
    """Bounds on mistakes, and changes of them."""
    campaign = MistakesCampaign(bench.paths[0].parent)
    campaign.bench = bench
    for k in range(max(1, count // 20)):
        table = forge_mistakes.instance(np.random.default_rng([seed, k]))
        campaign.table(*table, 19, random.Random(f"{seed} {k}"))
    bench.faults += campaign.faults


class ClassCampaign(forge_classes.Campaign):
    """The judges of `forge_classes.py`, and the bench."""

    bench: Bench

    def alone(self, text: str, table: forge.Table) -> int:
        return self.bench.hear("many classes", text.encode(), table.csv())


def classes(bench: Bench, count: int, seed: int) -> None:
    """Proofs about many classes, and changes of them."""
    campaign = ClassCampaign(bench.paths[0].parent)
    campaign.bench = bench
    for k in range(max(1, count // 30)):
        campaign.table(1000 * seed + k, 9, random.Random(f"{seed} {k}"))
    bench.faults += campaign.faults


CAMPAIGNS = (small_tables, other_files, definite, mistakes, classes)


def compare(count: int, seed: int, folder: Path) -> Bench:
    """The same number of cases from each campaign."""
    with Extracted() as extracted:
        bench = Bench(folder, extracted)
        for campaign in CAMPAIGNS:
            campaign(bench, count // len(CAMPAIGNS), seed)
    return bench


def main(count: int = 20_000, seed: int = 0) -> int:
    """Run the campaign and say what came of it."""
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as folder:
        bench = compare(count, seed, Path(folder))
    for fault in bench.faults[:20]:
        print(fault, file=sys.stderr)
    print(bench.told())
    return int(bool(bench.faults))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
