"""How many examples a property is tried on."""

from hypothesis import settings

NIGHTLY_FACTOR = 20


def examples(n, **options):
    """So many in `make test`, and twenty times as many in the nightly profile."""
    is_nightly = settings.get_current_profile_name() == "nightly"
    return settings(max_examples=n * (NIGHTLY_FACTOR if is_nightly else 1), **options)
