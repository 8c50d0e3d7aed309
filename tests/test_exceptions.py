"""Public exceptions."""

import pickle
import warnings

import pytest

from localsvm import exceptions
from localsvm.exceptions import DataError, DataWarning


def test_python_and_others_phrase_the_remedy():
    error = DataError("pass {remedy}.", parameter="delimiter", value=(";", ","))
    assert str(error) == "pass delimiter=';' or delimiter=','."
    assert error.phrased(lambda name, value: f"--{name} {value}") == (
        "pass --delimiter ; or --delimiter ,."
    )


def test_the_subject_goes_before_the_message_and_the_remedy_stays():
    error = DataError("pass {remedy}.", parameter="encoding", value="latin-1")
    named = error.about("a.csv")
    assert str(named) == "a.csv pass encoding='latin-1'."
    assert (named.parameter, named.value) == ("encoding", "latin-1")
    assert str(DataError("is empty.").about("a.csv")) == "a.csv is empty."


def test_warnings_have_a_remedy_too():
    with pytest.warns(UserWarning, match="keep it with kinds={'a': 'text'}") as caught:
        warnings.warn(
            DataWarning(
                "keep it with {remedy}.", parameter="kinds", value={"a": "text"}
            ),
            stacklevel=1,
        )
    (warning,) = caught
    assert warning.category is DataWarning
    assert warning.message.phrased(lambda *pair: "so") == "keep it with so."


def test_braces_of_users_are_left_alone():
    assert str(DataError("has {a} and {remedy}.")) == "has {a} and {remedy}."


def test_errors_survive_a_process():
    error = DataError("pass {remedy}.", parameter="where", value="split=test")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("DataError", ValueError),
        ("DataWarning", UserWarning),
        ("MissingExtraError", ImportError),
        ("NotEnoughMemoryError", MemoryError),
        ("UnreadableBlockError", OSError),
        ("FolderInUseError", RuntimeError),
    ],
)
def test_each_is_what_python_calls_it(name, base):
    assert name in exceptions.__all__
    assert issubclass(getattr(exceptions, name), base)
