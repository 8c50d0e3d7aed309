"""An explanation in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localsvm.inspect._labels import is_missing, shorten

if TYPE_CHECKING:
    from localsvm.inspect._changes._one_column import Change
    from localsvm.inspect._explanations._explanation import Explanation

_SHOWN_SHARE = 0.05
_SHOWN_CLASSES = 3
_SHOWN_CHANGES = 3
_SHOWN_SHIFTS = 5


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
        "Decided by": _term_words(found) if found.terms else _region_words(found),
        "Training rows": _mix_words(found),
        "Margin": _margin_words(found),
        "Smallest change": _border_words(found),
        "Single change": _single_words(found),
        "Unknown ranges": _unknown_words(found),
    }
    return {name: words for name, words in lines.items() if words}


def _sign_words(found: Explanation) -> str:
    other = f"class {found.classes[0]}" if len(found.classes) == 2 else "the others"
    return f"positive speaks for class {found.positive_class}, negative for {other}"


def _term_words(found: Explanation) -> str:
    """Terms of a sum with what they add; the share of the exact one."""
    sizes = {name: abs(part) for name, part in found.terms.items() if name != "bias"}
    words = " ".join(f"{name} {part:+.3f}" for name, part in found.terms.items())
    share = sizes.get("additive", 0.0) / (sum(sizes.values()) or 1.0)
    if share == 0:
        return f"a sum of terms: {words}"
    return f"a sum of terms: {words} (tables of single columns are {share:.0%})"


def _region_words(found: Explanation) -> str:
    rows = "row" if found.n_region_rows == 1 else "rows"
    total = float(np.abs(found.region_weights).sum())
    if found.effects is not None:
        return (
            "one table of effects per feature, fitted to "
            f"{found.n_region_rows} training {rows}"
        )
    if found.has_all_rows:
        words = [f"one SVM fitted to all {found.n_region_rows} training {rows}"]
    elif len(found.regions):
        share = found.region_weights[0] / total
        words = [
            f"region {found.regions[0]} (share {share:.2f}, "
            f"{found.n_region_rows} training {rows})"
        ]
    elif found.region_class_counts:
        words = [f"the {found.n_region_rows} nearest training {rows}"]
    else:
        words = [f"one SVM with {found.n_region_rows} support vectors"]
    shares = (float(weight) / total for weight in found.region_weights)
    others = list(zip(found.regions, shares, strict=True))[1:]
    shown = [pair for pair in others if abs(pair[1]) >= _SHOWN_SHARE]
    words += [f"{region} ({share:.2f})" for region, share in shown]
    if len(shown) < len(others):
        words.append(f"{len(others) - len(shown)} more below {_SHOWN_SHARE}")
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
    if more > 0:
        rest = f"{more} more class" + ("es" if more > 1 else "")
        words = [*words[:_SHOWN_CLASSES], rest]
    if found.region_accuracy is not None:
        words.append(f"accuracy {found.region_accuracy:.3f}")
    return ", ".join(words)


def _margin_words(found: Explanation) -> str:
    margin = found.margin
    words = f"leads {shorten(margin.runner_up)} by {margin.difference:.3g}"
    if margin.distance is None:
        return words
    return f"{words} (distance {margin.distance:.3g} to the linear boundary)"


def _border_words(found: Explanation) -> str:
    border = found.border
    if border is None:
        return _none_found("change") if found.is_searched else ""
    place = {None: "", True: ", in the same region"}.get(
        border.in_same_region, f", in region {border.region}"
    )
    least = f"the smallest found{place}"
    if border.is_exact:
        least = "the smallest" + (" in the region" if border.in_same_region else "")
    moves = [_move_words(*shift) for shift in border.shifts[:_SHOWN_SHIFTS]]
    more = len(border.shifts) - len(moves)
    if more > 0:
        moves.append(f"{more} more column" + ("s" if more > 1 else ""))
    verb = "gives" if len(border.shifts) == 1 else "give"
    outcome = f"{verb} {shorten(border.label)}"
    return f"{_listed(moves)} {outcome} (distance {border.distance:.3g}, {least})"


def _single_words(found: Explanation) -> str:
    if found.is_searched and not found.changes:
        return _none_found("change of a single column")
    return "; ".join(
        f"{_move_words(each.name, each.value, each.to)} gives {shorten(each.label)}"
        for each in _distinct(found)
    )


def _none_found(what: str) -> str:
    return (
        f"no {what} within the range of the training data was found to change the "
        "prediction"
    )


def _unknown_words(found: Explanation) -> str:
    """Columns that were changed without knowing their range."""
    changed = {each.name: None for each in found.changes}
    if found.border is not None:
        changed |= {each.name: None for each in found.border.shifts}
    names = [name for name in changed if name in found.unknown_ranges]
    if not names:
        return ""
    shown = names[:_SHOWN_CHANGES]
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    return f"{_listed(shown)} (the changes above may lie outside the training data)"


def _distinct(found: Explanation) -> list[Change]:
    """First changes, one of each column."""
    first: dict[str, Change] = {}
    for change in found.changes:
        first.setdefault(change.name, change)
    return list(first.values())[:_SHOWN_CHANGES]


def _move_words(name: str, value: Any, to: Any) -> str:
    return f"{name} from {shorten(_number(value))} to {shorten(_exact(to))}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _exact(value: Any) -> str:
    """All digits, of which a change has few: with fewer the label might not change."""
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        return str(value)
    number = float(value)
    return (
        f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)
    )


def _feature_table(found: Explanation) -> list[str]:
    top = found.top()
    sums = _sums(found, [entry.contribution for entry in top], len(found.coef))
    width = max(len(name) for name in [*(entry.name for entry in top), *sums])
    has_weights = found.effects is None
    blank = " " * (22 if has_weights else 11)
    weights = [f"{entry.weight:>+11.4f}" if has_weights else "" for entry in top]
    title = f"{'weight':>11}" if has_weights else ""
    return [
        f"{'feature':<{width}}{'value':>11}{title}{'contribution':>14}",
        *(
            f"{entry.name:<{width}}{entry.value:>11.4g}{weight}"
            f"{entry.contribution:>+14.4f}"
            for entry, weight in zip(top, weights, strict=True)
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
