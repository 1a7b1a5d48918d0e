"""The quick tests at both ends of what pyproject.toml allows: `make bounds`.

    python -m tests.campaigns.bounds [PYTHON ...]

Each end is an environment of its own, made by uv under build/. PyTorch is left out: it is large, and the tests
that need it say so.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUICK = "not browser and not slow and not campaign"
OLD_AND_NEW = "default::DeprecationWarning"  # an old library may use what a newer one of its own has deprecated


def tried(python: str, resolution: str) -> bool:
    """Whether the quick tests pass with these versions of everything."""
    folder = ROOT / "build" / f"bounds-{python}-{resolution}"
    subprocess.run(["uv", "venv", "--quiet", "--clear", "--python", python, folder], check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as left_out:
        left_out.write("torch ; sys_platform == 'never'\n")
        left_out.flush()
        install = ["uv", "pip", "install", "--quiet", "--resolution", resolution, "--override", left_out.name]
        subprocess.run([*install, "--python", folder / "bin/python", "--editable", f"{ROOT}[test]"], check=True)
    print(f"Python {python}, {resolution}:", flush=True)
    own = {"NUMBA_CACHE_DIR": str(folder / "numba"), "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    command = [
        folder / "bin/python",
        "-m",
        "pytest",
        "-n",
        "2",
        "-m",
        QUICK,
        "-W",
        OLD_AND_NEW,
        "-p",
        "no:cacheprovider",
    ]
    return subprocess.run(command, cwd=ROOT, env=os.environ | own, check=False).returncode == 0


def main() -> int:
    """Every named Python (this one, if none is) at both ends."""
    pythons = sys.argv[1:] or [f"{sys.version_info.major}.{sys.version_info.minor}"]
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    results = [tried(python, end) for python in pythons for end in ("lowest-direct", "highest")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
