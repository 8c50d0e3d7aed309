"""An explanation in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localsvm.inspect._labels import is_missing, shorten

if TYPE_CHECKING:
    from localsvm.inspect._changes import Change
    from localsvm.inspect._explanation import Explanation

_SHOWN_WEIGHT = 0.05
_SHOWN_CLASSES = 3
_SHOWN_CHANGES = 3


def explanation_text(found: Explanation) -> str:
    """Short text: the class, who decided it, how clearly, what would change it, why."""
    return "\n".join(
        [
            *(f"{name + ':':<17}{words}" for name, words in explained(found).items()),
            "",
            *(_column_table(found) if found.columns else _feature_table(found)),
        ]
    )


def explained(found: Explanation) -> dict[str, str]:
    """All but the table of contributions, by name; what is not known is left out."""
    lines = {
        "Predicted class": f"{found.predicted_class}",
        "Decision value": f"{found.decision_value:+.4f} ({_sign_words(found)})",
        "Decided by": _region_words(found),
        "Training rows": _mix_words(found),
        "Margin": _margin_words(found),
        "Nearest border": _border_words(found),
        "One change": "; ".join(_change_words(each) for each in _distinct(found)),
    }
    return {name: words for name, words in lines.items() if words}


def _sign_words(found: Explanation) -> str:
    other = f"class {found.classes[0]}" if len(found.classes) == 2 else "the others"
    return f"positive speaks for class {found.positive_class}, negative for {other}"


def _region_words(found: Explanation) -> str:
    rows = "row" if found.n_region_rows == 1 else "rows"
    if len(found.regions):
        words = [
            f"region {found.regions[0]} (weight {found.region_weights[0]:.2f}, "
            f"{found.n_region_rows} training {rows})"
        ]
    elif found.region_class_counts:
        words = [f"the {found.n_region_rows} nearest training {rows}"]
    else:
        words = [f"one SVM with {found.n_region_rows} support vectors"]
    others = list(zip(found.regions, found.region_weights, strict=True))[1:]
    shown = [pair for pair in others if abs(pair[1]) >= _SHOWN_WEIGHT]
    words += [f"{region} ({weight:.2f})" for region, weight in shown]
    if len(shown) < len(others):
        words.append(f"{len(others) - len(shown)} more below {_SHOWN_WEIGHT}")
    if found.is_gradient:
        words.append("not linear: weights are its gradient here")
    return ", ".join(words)


def _mix_words(found: Explanation) -> str:
    """Classes of the training rows in the main region."""
    total = sum(found.region_class_counts.values())
    if not total:
        return ""
    mix = sorted(found.region_class_counts.items(), key=lambda pair: -pair[1])
    present = [(label, count) for label, count in mix if count > 0]
    words = [f"{count / total:.0%} {shorten(label)}" for label, count in present]
    more = len(words) - _SHOWN_CLASSES
    words = [*words[:_SHOWN_CLASSES], *([f"{more} more classes"] if more > 0 else [])]
    if found.region_accuracy is not None:
        words.append(f"accuracy {found.region_accuracy:.3f}")
    return ", ".join(words)


def _margin_words(found: Explanation) -> str:
    margin = found.margin
    words = f"{margin.difference:.4g} before class {margin.runner_up}"
    if margin.distance is None:
        return words
    return f"{words}, {margin.distance:.4g} from its linear border"


def _border_words(found: Explanation) -> str:
    border = found.border
    if border is None:
        return ""
    way = "exactly" if border.is_exact else "found on the way there"
    place = {None: "", True: ", in the same region"}.get(
        border.in_same_region, f", in region {border.region}"
    )
    moves = ", ".join(
        f"{shift.name} {_number(shift.value)} to {_number(shift.to)}"
        for shift in border.shifts[:_SHOWN_CHANGES]
    )
    start = f"class {border.label} at distance {border.distance:.4g}"
    return f"{start} ({way}{place}): {moves}"


def _distinct(found: Explanation) -> list[Change]:
    """First changes, one of each column."""
    first: dict[str, Change] = {}
    for change in found.changes:
        first.setdefault(change.name, change)
    return list(first.values())[:_SHOWN_CHANGES]


def _change_words(change: Change) -> str:
    if isinstance(change.to, bool | str):
        then = f"{change.name} {change.to}"
    else:
        side = "above" if change.to > change.value else "below"
        then = f"{change.name} {side} {_number(change.to)}"
    return f"{then} gives {shorten(change.label)}"


def _feature_table(found: Explanation) -> list[str]:
    top = found.top()
    sums = _sums(found, [entry.contribution for entry in top], len(found.coef))
    width = max(len(name) for name in [*(entry.name for entry in top), *sums])
    blank = " " * 22
    return [
        f"{'feature':<{width}}{'value':>11}{'weight':>11}{'contribution':>14}",
        *(
            f"{entry.name:<{width}}{entry.value:>11.4g}{entry.weight:>+11.4f}"
            f"{entry.contribution:>+14.4f}"
            for entry in top
        ),
        *(f"{name:<{width}}{blank}{total:>+14.4f}" for name, total in sums.items()),
    ]


def _column_table(found: Explanation) -> list[str]:
    top = found.top_columns()
    sums = _sums(
        found, [entry.contribution for entry in top], len(found.columns), "column"
    )
    width = max(len(name) for name in [*(entry.name for entry in top), *sums])
    values = [shorten(_number(entry.value)) for entry in top]
    size = max(map(len, values)) + 2
    return [
        f"{'column':<{width}}{'value':>{max(size, 7)}}{'contribution':>14}",
        *(
            f"{entry.name:<{width}}{value:>{max(size, 7)}}{entry.contribution:>+14.4f}"
            for entry, value in zip(top, values, strict=True)
        ),
        *(
            f"{name:<{width}}{'':>{max(size, 7)}}{total:>+14.4f}"
            for name, total in sums.items()
        ),
    ]


def _sums(
    found: Explanation, shown: list[float], n_all: int, what: str = "feature"
) -> dict[str, float]:
    """Lines below the table: what is not shown, the intercept, the sum."""
    n_rest = n_all - len(shown)
    rest = float(found.contributions.sum()) - sum(shown)
    name = f"{n_rest} other {what}" + ("s" if n_rest > 1 else "")
    others = {name: rest} if n_rest else {}
    return {**others, "intercept": found.intercept, "sum": found.decision_value}


def _number(value: Any) -> str:
    """Value of a table, numbers with four digits or all before the point."""
    if is_missing(value):
        return "(missing)"
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        return str(value)
    number = float(value)
    return f"{number:.0f}" if 1e4 <= abs(number) < 1e9 else f"{number:.4g}"
