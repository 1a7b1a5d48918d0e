"""Compile the theorems from scratch, or the checker that is extracted from them: `make theorems`, `make checker`.

    python theorems/build.py theorems    every file, its time and lines, and what each main theorem assumes
    python theorems/build.py checker     theorems/build/linsep-checker

What is needed is Debian's: coq, libcoq-flocq, ocaml-nox, ocaml-findlib and libzarith-ocaml-dev. They are installed
where root runs this on Debian; elsewhere a message names them. Nothing is left unproved: the sources may not have an
`Admitted`, an `Axiom` or the like. The theorems assume the axioms of Coq's real numbers and nothing else; `double` also
assumes `classic`, that every statement is true or false, as Flocq does.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE / "build"
PACKAGES = ("coq", "libcoq-flocq", "ocaml-nox", "ocaml-findlib", "libzarith-ocaml-dev", "gcc", "libc6-dev")
FILES = ("Vectors", "Rows", "Separator", "Obstruction", "Spread", "Margin", "Tables", "Mistakes", "Packed",
    "PositiveDefinite",
         "Novikoff", "Homogeneous", "Checker", "Soundness", "Classes", "Doubles")  # fmt: skip
SHELL = ("sha256", "text", "json", "csv", "numbers", "hints", "main")
LEFT_OPEN = re.compile(
    r"\b(Admitted|admit|Axioms?|Parameters?|Conjectures?|Abort|give_up|bypass_check|Unset\s+\w+\s+Checking)\b"
)
REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}  # how Coq builds the real numbers
OF_FLOCQ = {
    "double": {"Classical_Prop.classic"}
}  # a statement or its opposite holds: Flocq's doubles are built with it


def has_tools() -> bool:
    """Whether Coq with Flocq, and OCaml with Zarith, are there."""
    if not all(map(shutil.which, ("coqc", "ocamlfind", "ocamlopt"))):
        return False
    libraries = Path(output("coqc", "-where").strip()) / "user-contrib" / "Flocq"
    return libraries.is_dir() and subprocess.run(["ocamlfind", "query", "zarith"], capture_output=True).returncode == 0


def output(*command: str, folder: Path = HERE) -> str:
    """What a command prints; its errors are shown, and end this."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def install() -> None:
    """Debian's packages, for root; else a message."""
    if has_tools():
        return
    if hasattr(os, "geteuid") and os.geteuid() == 0 and Path("/etc/debian_version").exists():
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=False)
        command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES]
        subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, check=False)
    if not has_tools():
        sys.exit(f"The theorems need Coq and OCaml. On Debian: apt-get install {' '.join(PACKAGES)}")


def refuse_gaps() -> None:
    """No source may leave anything open or assume anything."""
    for path in sorted(HERE.glob("*.v")):
        text = without_comments(path.read_text("utf-8"))
        if found := LEFT_OPEN.search(text):
            sys.exit(f"{path.name}: {found[0]} is not allowed")


def without_comments(text: str) -> str:
    """Coq's comments may be nested."""
    depth, kept = 0, list[str]()
    for part in re.split(r"(\(\*|\*\))", text):
        if part == "(*":
            depth += 1
        elif part == "*)":
            depth -= 1
        elif not depth:
            kept.append(part)
    return "".join(kept)


def compile_all() -> None:
    """Every file from scratch, with its lines and seconds."""
    for old in (*HERE.glob("*.vo*"), *HERE.glob("*.glob"), *HERE.glob(".*.aux")):
        old.unlink()
    lines, start = 0, time.perf_counter()
    for name in FILES:
        before = time.perf_counter()
        output("coqc", "-R", ".", "Linsep", f"{name}.v")
        count = len((HERE / f"{name}.v").read_text("utf-8").splitlines())
        lines += count
        print(f"{name + '.v':<20}{count:>6} lines{time.perf_counter() - before:>8.1f} s", flush=True)
    print(f"{'all':<20}{lines:>6} lines{time.perf_counter() - start:>8.1f} s")


def is_compiled() -> bool:
    """Whether every file was compiled after the last change of any of them."""
    compiled = [HERE / f"{name}.vo" for name in FILES]
    newest = max((HERE / f"{name}.v").stat().st_mtime_ns for name in FILES)
    return all(path.exists() and path.stat().st_mtime_ns > newest for path in compiled)


def assumptions() -> dict[str, set[str]]:
    """For each main theorem the axioms it rests on."""
    names = re.findall(r"^Print Assumptions (\w+)\.$", (HERE / "Assumptions.v").read_text("utf-8"), re.MULTILINE)
    said = output("coqc", "-R", ".", "Linsep", "Assumptions.v")
    parts = re.split(r"^(?=Axioms:|Closed under the global context)", said, flags=re.MULTILINE)[1:]
    if len(parts) != len(names):
        sys.exit(f"{len(names)} theorems, but what {len(parts)} of them assume was printed:\n{said}")
    return {
        name: set(re.findall(r"^([\w.']+)\s*:", part, re.MULTILINE)) - {"Axioms"}
        for name, part in zip(names, parts, strict=True)
    }


def theorems() -> None:
    """Compile all, and print what each main theorem assumes."""
    refuse_gaps()
    compile_all()
    found = assumptions()
    print("\nWhat each main theorem assumes, by the numbers below:")
    known = sorted(REALS.union(*OF_FLOCQ.values()))
    for name, used in found.items():
        if others := used - REALS - OF_FLOCQ.get(name, set()):
            sys.exit(f"{name} assumes what it may not: {', '.join(sorted(others))}")
        print(f"  {name:<26}{', '.join(str(1 + known.index(axiom)) for axiom in sorted(used)) or 'nothing'}")
    for number, axiom in enumerate(known, start=1):
        print(f"  {number}. {axiom}")
    print(f"{len(found)} theorems, no gap, no axiom beyond those of the real numbers (and, for doubles, Flocq's).")


def checker() -> None:
    """Extract, and compile with the shell; the theorems first, if one of them changed since they were compiled."""
    if not is_compiled():
        compile_all()
    BUILD.mkdir(exist_ok=True)
    output("coqc", "-R", "..", "Linsep", "../Extraction.v", folder=BUILD)
    for name in ("big", *SHELL):
        shutil.copy(HERE / "checker" / f"{name}.ml", BUILD)
    sources = ["big.ml", "verified.mli", "verified.ml", *(f"{name}.ml" for name in SHELL)]
    packages = ["-package", "zarith,unix", "-linkpkg", "-w", "-a", "-o", "linsep-checker"]
    output("ocamlfind", "ocamlopt", "-inline", "200", *packages, *sources, folder=BUILD)
    print(BUILD / "linsep-checker")


if __name__ == "__main__":
    install()
    {"theorems": theorems, "checker": checker}[sys.argv[1]]()
