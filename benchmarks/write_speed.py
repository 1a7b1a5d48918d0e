"""Run the benchmarks of `make bench` and put what they print into docs/speed.md.

python benchmarks/write_speed.py
"""

import subprocess
import sys
from pathlib import Path

SCRIPTS = {"bandwidth": "The speed of memory", "perceptron": "The Perceptron", "decide": "Deciding and proving"}
PAGE = Path(__file__).resolve().parents[1] / "docs" / "speed.md"


def printed(script):
    command = [sys.executable, str(Path(__file__).with_name(f"{script}.py"))]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    head = PAGE.read_text().split("<!-- bench -->")[0]
    parts = [
        f"## {title}\n\n`python benchmarks/{script}.py`\n\n{printed(script)}\n" for script, title in SCRIPTS.items()
    ]
    PAGE.write_text(f"{head}<!-- bench -->\n\n" + "\n".join(parts))
