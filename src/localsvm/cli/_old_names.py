"""Names of commands and options until 0.1, which work for one more release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

COMMANDS = {
    "inspect": ("info",),
    "bench": ("compare",),
    "recipe": ("federated", "recipe"),
    "share": ("federated", "share"),
    "merge": ("federated", "merge"),
}
OPTIONS = {"--set": "--param", "--kind": "--column-type", "--onnx": "--out"}
_READ = "--read"


def in_new_names(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Arguments with the names of today, and a warning for each old one."""
    if not arguments:
        return [], []
    name, *rest = arguments
    command = COMMANDS.get(name, (name,))
    warnings = []
    if name in COMMANDS:
        warnings.append(_warning(f"localsvm {name}", " ".join(("localsvm", *command))))
    words = iter(rest)
    renamed: list[str] = []
    for word in words:
        if word == "--":
            return [*command, *renamed, word, *words], warnings
        new = _renamed(word, words)
        if new != (word,):
            warnings.append(_warning(word.partition("=")[0], new[0].partition("=")[0]))
        renamed += new
    return [*command, *renamed], warnings


def _renamed(word: str, following: Iterator[str]) -> tuple[str, ...]:
    """Option in its new name; what ``--read`` has said is an option of its own."""
    name, equals, value = word.partition("=")
    if name != _READ:
        return (OPTIONS[name] + equals + value,) if name in OPTIONS else (word,)
    option, _, value = (value if equals else next(following, "")).partition("=")
    if option == "header":
        return ("--header" if value.lower() in ("yes", "true") else "--no-header",)
    return (f"--{option.replace('_', '-')}={value}",)


def _warning(old: str, new: str) -> str:
    return f"`{old}` is `{new}` now; the next release no longer knows the old name."
