"""What commands print with ``--json``: run for real, kept as files and as a page.

``python benchmarks/cli_json.py`` rewrites ``tests/cli/golden/`` and
``docs/cli-json.md``.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import tempfile
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from localsvm._plain_file import replace_file
from localsvm.cli._app import app

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "cli" / "golden"
PAGE = ROOT / "docs" / "cli-json.md"
_SHARE = "federated share adult.csv.gz --recipe recipe.lsvm --ledger ledger.json"
# In this order: a command needs the files of those before it.
COMMANDS = {
    "sample": "sample adult",
    "fit": "fit adult.csv.gz -t income --where split=train -o income.lsvm -m clustered "
    "-p n_regions=3 -p updatable=true --seed 1",
    "evaluate": "evaluate income.lsvm adult.csv.gz --where split=test",
    "predict": "predict income.lsvm adult.csv.gz --where split=test -o predictions.csv",
    "explain": "explain income.lsvm adult.csv.gz --where split=test --row 0",
    "report": "report income.lsvm adult.csv.gz --no-peers -o report.html",
    "export": "export income.lsvm -o income.onnx",
    "info": "info income.lsvm --regions",
    "compare": "compare clustered adult.csv.gz -t income --drop split",
    "update": "update income.lsvm --add adult.csv.gz --where split=test",
    "federated-recipe": "federated recipe adult.csv.gz -t income --where split=test "
    "-o recipe.lsvm",
    "federated-share": f"{_SHARE} --name north --where split=train -o north.scm",
    "federated-merge": "federated merge north.scm --recipe recipe.lsvm -o all.lsvm",
    "info-summary": "info north.scm",
    "info-ledger": "info ledger.json",
    "error": "evaluate income.lsvm missing.csv",
}
_START = """# JSON of the command line

With `--json` a command prints one JSON document on standard output, and nothing else
there. It begins with

- `schema`: version of this page, {schema}. Entries may be added under the same version;
  one that goes, or changes its meaning, raises it.
- `localsvm`: version of the package.
- `command`: the command without its options.

Numbers that are not finite are `null`. Scores are objects of `value`, `low` and `high`,
an interval at `confidence_level`. If a command fails, the last line of standard error
is an object with the message and the exit code:

```json
{error}
```

`serve` prints no document. Below, lists are cut to their first entry and texts to a
line. `python benchmarks/cli_json.py` writes this page from
`tests/cli/golden/`, with which the tests compare what the commands print.
"""
_LONGEST = 60


def answer_all() -> dict[str, Any]:
    """Run every command in an empty folder."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return {name: _answer(command) for name, command in COMMANDS.items()}


def _answer(command: str) -> Any:
    words = [*shlex.split(command), "--json", "--quiet"]
    result = CliRunner().invoke(
        app, words, prog_name="localsvm", catch_exceptions=False
    )
    return json.loads(result.stdout or result.stderr.splitlines()[-1])


def golden() -> dict[str, Any]:
    """Read what the commands printed when the files were written."""
    return {name: json.loads(_path(name).read_text("utf-8")) for name in COMMANDS}


def page(answers: dict[str, Any]) -> str:
    """Markdown of what the commands print."""
    error = json.dumps(answers["error"])
    parts = [_START.format(schema=answers["fit"]["schema"], error=error)]
    for name, command in COMMANDS.items():
        if name != "error":
            shown = json.dumps(_cut(answers[name]), indent=1, ensure_ascii=False)
            title = answers[name]["command"]
            parts.append(
                f"## {title}\n\n`localsvm {command} --json`\n\n```\n{shown}\n```\n"
            )
    return "\n".join(parts)


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value[:1]]
    if isinstance(value, str) and len(value) > _LONGEST:
        return value[:_LONGEST] + "..."
    return round(value, 4) if isinstance(value, float) else value


def _path(name: str) -> Path:
    return GOLDEN / f"{name}.json"


def write() -> None:
    """Write files and page anew."""
    GOLDEN.mkdir(exist_ok=True)
    answers = answer_all()
    for name, found in answers.items():
        text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        replace_file(_path(name), [text.encode()])
    replace_file(PAGE, [page(answers).encode()])


if __name__ == "__main__":
    write()
