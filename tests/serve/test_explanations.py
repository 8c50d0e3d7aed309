"""Explanations over HTTP."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV

from localsvm.data import make_xor
from localsvm.inspect import explain
from serve_data import PERSON, client_of, people_model, trees_model, xor_model


def explanations(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["explanations"]


def test_explanations_are_those_of_the_library():
    client = client_of(xor_model())
    rows = [[2.0, 0.1], [-1.0, 3.0]]
    found = explanations(client.post("/explain", {"rows": rows}))
    assert found == [each.to_dict() for each in explain(xor_model(), np.array(rows))]


def test_rows_by_name_and_by_place_are_the_same():
    client = client_of(trees_model())
    by_name = {"rows": [{"age": 3.0, "height": 1, "girth": 2}]}
    by_place = {"rows": [[1, 2, 3]]}
    found = explanations(client.post("/explain", by_name))
    assert found == explanations(client.post("/explain", by_place))
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["height", "girth", "age"])
    assert found[0]["predicted_class"] == trees_model().predict(frame)[0]


def test_columns_of_a_raw_table_are_explained():
    client = client_of(people_model())
    (found,) = explanations(client.post("/explain", {"rows": [PERSON]}))
    assert {column["name"] for column in found["columns"]} == set(PERSON)
    total = sum(column["contribution"] for column in found["columns"])
    assert total + found["intercept"] == pytest.approx(found["decision_value"])


def test_what_would_change_the_label_can_be_left_out():
    client = client_of(people_model())
    content = {"rows": [PERSON], "border": False}
    (found,) = explanations(client.post("/explain", content))
    assert found["border"] is None
    assert found["changes"] == []


def test_a_missing_value_is_null_and_a_dropped_column_may_be_there():
    client = client_of(people_model())
    row = {**PERSON, "age": None, "town": None, "planet": "mars"}
    content = {"rows": [row], "border": False}
    assert len(explanations(client.post("/explain", content))) == 1


def test_an_absent_column_is_a_missing_value():
    client = client_of(people_model())
    given = {"age": 40, "town": "Ulm"}
    null = {**dict.fromkeys(PERSON), **given}
    found, expected = (
        explanations(client.post("/explain", {"rows": [row], "border": False}))
        for row in (given, null)
    )
    assert found == expected


def test_a_row_has_a_column_of_the_model():
    client = client_of(people_model())
    for row in ({}, {"planet": "mars"}):
        answer = client.post("/explain", {"rows": [PERSON, row]})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(
            "rows[1] has no column of the model: 'age', 'town'"
        )
    answer = client.post("/explain", {"rows": [{"agee": 40, "town": "Ulm"}]})
    assert answer.status_code == 400
    assert answer.json()["error"].endswith("did you mean 'age'?")


def test_a_model_without_weights_is_told():
    X, y = make_xor(200, random_state=0)
    model = CalibratedClassifierCV(xor_model()).fit(X, y)
    answer = client_of(model).post("/explain", {"rows": [[1, 2]]})
    assert answer.status_code == 501
    assert "CalibratedClassifierCV" in answer.json()["error"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "rows is missing; expected a list."),
        ({"rows": []}, "rows is empty; expected at least one row."),
        ({"rows": [5]}, "rows[0] is a number; expected an object or a list."),
        ({"rows": [[1]]}, "rows[0] has 1 values; the model has 2 columns."),
        ({"rows": [{"x0": 1}]}, "rows[0] has no value of 'x1'."),
        (
            {"rows": [{"x0": 1, "y1": 2}]},
            'rows[0] has the column "y1", which the model',
        ),
        ({"rows": [[1, None]]}, "rows[0].x1 is null; expected a number."),
        ({"rows": [[1, "2"]]}, 'rows[0].x1 is "2"; expected a number.'),
        ({"rows": [[1, True]]}, "rows[0].x1 is true; expected a number."),
        ({"rows": [[1, [2]]]}, "rows[0].x1 is a list; expected one value."),
        ({"rows": [[1, 2], [1, 10**400]]}, "rows[1].x1 is an integer of more than 40"),
        ({"rows": [[1, 2]], "border": 1}, "border is 1; expected true or false."),
        ({"rows": [[1e308, -1e308]]}, "rows[0] has values too large"),
    ],
)
def test_the_place_is_named(content, message):
    answer = client_of(xor_model()).post("/explain", content)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(message)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"age": "old"}, 'rows[0].age is "old"; expected a number.'),
        ({"moved": "soon"}, "The model refuses the rows: "),
        ({"member": "maybe"}, "The model refuses the rows: "),
        ({"note": "\ud800"}, "rows[0].note has half of a surrogate pair in a string."),
        ({"town": {"a": 1}}, "rows[0].town is an object; expected one value."),
    ],
)
def test_values_of_a_table(changed, message):
    answer = client_of(people_model()).post(
        "/explain", {"rows": [{**PERSON, **changed}]}
    )
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(message)


def test_at_most_a_hundred_rows_are_explained():
    answer = client_of(xor_model()).post("/explain", {"rows": [[1, 2]] * 101})
    assert answer.status_code == 413
    assert "expected at most 100 a request" in answer.json()["error"]
