"""The Open Inference Protocol, as its clients speak it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from localsvm import ClusteredSVC
from localsvm.data import TableEncoder, make_xor
from serve_data import (
    client_of,
    people,
    people_model,
    person_tensors,
    tensor,
    trees_model,
    xor_model,
)

ROWS = make_xor(50, random_state=1)[0]


def outputs(answer):
    """Arrays by name."""
    assert answer.status_code == 200, answer.text
    return {
        each["name"]: np.array(each["data"]).reshape(each["shape"])
        for each in answer.json()["outputs"]
    }


@pytest.fixture
def xor():
    return client_of(xor_model())


def test_server_and_health(xor):
    server = xor.get("/v2").json()
    assert server["name"] == "localsvm"
    assert server["version"]
    assert server["extensions"] == []
    assert xor.get("/v2/health/live").json() == {"live": True}
    assert xor.get("/v2/health/ready").json() == {"ready": True}


@pytest.mark.parametrize("version", ["", "/versions/1"])
def test_model_addresses_with_and_without_version(xor, version):
    base = "/v2/models/model" + version
    metadata = xor.get(base).json()
    assert metadata["name"] == "model"
    assert metadata["versions"] == ["1"]
    assert metadata["inputs"] == [{"name": "X", "datatype": "FP64", "shape": [-1, 2]}]
    assert [o["name"] for o in metadata["outputs"]] == [
        *("label", "scores"),
        *("probabilities", "familiarity"),
    ]
    assert xor.get(base + "/ready").json() == {"name": "model", "ready": True}
    answer = xor.post(base + "/infer", {"inputs": [tensor("X", ROWS)]})
    assert answer.json()["model_name"] == "model"
    assert answer.json()["model_version"] == "1"


def test_labels_and_scores_are_those_of_the_model(xor):
    found = outputs(xor.infer(tensor("X", ROWS)))
    model = xor_model()
    assert np.array_equal(found["label"], model.predict(ROWS))
    assert np.array_equal(found["scores"], model.decision_function(ROWS))


def test_data_may_be_flat_or_row_by_row(xor):
    flat = tensor("X", ROWS.ravel(), shape=list(ROWS.shape))
    assert xor.infer(flat).json() == xor.infer(tensor("X", ROWS)).json()


@pytest.mark.parametrize(
    "datatype", ["FP16", "FP32", "FP64", "INT8", "UINT32", "INT64"]
)
def test_numbers_of_any_type(xor, datatype):
    rows = [[1, 2], [0, 3]]
    expected = xor_model().predict(np.array(rows, dtype=float))
    assert np.array_equal(
        outputs(xor.infer(tensor("X", rows, datatype)))["label"], expected
    )


def test_one_tensor_per_column_in_any_order(xor):
    columns = [tensor("x1", ROWS[:, 1]), tensor("x0", ROWS[:, :1])]
    assert xor.infer(*columns).json() == xor.infer(tensor("X", ROWS)).json()


def test_the_id_comes_back(xor):
    for request_id in ("ä 😀 7", "", "\ud800"):
        answer = xor.infer(tensor("X", ROWS), id=request_id)
        assert answer.json()["id"] == request_id
    assert "id" not in xor.infer(tensor("X", ROWS)).json()


def test_only_the_outputs_asked_for(xor):
    asked = xor.infer(tensor("X", ROWS), outputs=[{"name": "scores"}])
    assert list(outputs(asked)) == ["scores"]
    assert list(outputs(xor.infer(tensor("X", ROWS), outputs=[]))) == [
        "label",
        "scores",
        "probabilities",
    ]


def test_familiarity_is_given_if_it_is_asked_for(xor):
    far = np.append(ROWS, [[50.0, 50.0]], axis=0)
    asked = [{"name": "familiarity"}, {"name": "probabilities"}]
    found = outputs(xor.infer(tensor("X", far), outputs=asked))
    assert np.array_equal(found["familiarity"], xor_model().familiarity(far))
    assert found["familiarity"][-1] < 0.01
    given = np.reshape(found["probabilities"], (-1, 2))
    assert np.array_equal(given, xor_model().predict_proba(far))


def test_metadata_tells_the_types_that_come():
    client = client_of(trees_model())
    model = trees_model()
    X = np.array([[0.0, 0, 0], [2, 40, 0]])
    answer = client.infer(tensor("X", X)).json()
    described = client.get("/v2/models/model").json()["outputs"]
    usual = [each for each in described if each["name"] != "familiarity"]
    for told, came in zip(usual, answer["outputs"], strict=True):
        assert told["name"] == came["name"]
        assert told["datatype"] == came["datatype"]
        assert told["shape"][1:] == came["shape"][1:]
    frame = pd.DataFrame(X, columns=["height", "girth", "age"])
    found = outputs(client.infer(tensor("X", X)))
    assert found["label"].tolist() == ["ash", "cedar"]
    assert np.array_equal(found["scores"], model.decision_function(frame))
    assert np.array_equal(found["probabilities"], model.predict_proba(frame))


def test_raw_tables_by_column():
    client, model = client_of(people_model()), people_model()
    table, _ = people()
    part = table.iloc[:40]
    inputs = [
        tensor("age", [None if np.isnan(v) else v for v in part["age"]]),
        tensor("town", part["town"].tolist(), "BYTES"),
        tensor("member", part["member"].tolist(), "BOOL"),
        tensor("moved", part["moved"].dt.strftime("%Y-%m-%d").tolist(), "BYTES"),
        tensor("note", part["note"].tolist(), "BYTES"),
    ]
    found = outputs(client.infer(*inputs))
    assert np.array_equal(found["label"], model.predict(part))
    assert np.allclose(found["scores"], model.decision_function(part))


def test_metadata_of_a_table_names_its_columns():
    metadata = client_of(people_model()).get("/v2/models/model").json()
    assert {each["name"]: each["datatype"] for each in metadata["inputs"]} == {
        "age": "FP64",
        "town": "BYTES",
        "member": "BOOL",
        "moved": "BYTES",
        "note": "BYTES",
    }


def test_a_column_that_the_encoder_drops_may_come_or_not():
    client = client_of(people_model())
    without = client.infer(*person_tensors())
    answer = client.infer(*person_tensors(), tensor("planet", ["mars"], "BYTES"))
    assert answer.json() == without.json()


def test_missing_values_and_new_categories_are_answered():
    client = client_of(people_model())
    for changed in ({"age": None}, {"town": None}, {"town": "Rome"}, {"note": ""}):
        assert client.infer(*person_tensors(**changed)).status_code == 200


def test_an_absent_tensor_is_a_column_of_missing_values():
    client = client_of(people_model())
    whole = person_tensors(member=None, moved=None, note=None)
    found, expected = (client.infer(*each).json() for each in (whole[:2], whole))
    assert found["outputs"] == expected["outputs"]


def test_an_encoder_of_an_array_without_names():
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal(200)
    kinds = rng.choice(["a", "b"], 200)
    same = np.ones(200)
    X = np.column_stack([same, numbers, kinds]).astype(object)
    X[:, 1] = numbers
    y = (numbers > 0) == (kinds == "a")
    steps = [("table", TableEncoder()), ("model", ClusteredSVC(random_state=0))]
    model = Pipeline(steps).fit(X, y)
    answer = client_of(model).infer(
        tensor("x1", numbers[:20]), tensor("x2", kinds[:20], "BYTES")
    )
    found = outputs(answer)
    assert np.array_equal(found["label"], model.predict(X[:20]))
    assert answer.json()["outputs"][0]["datatype"] == "BOOL"


def test_wrong_things_are_not_served():
    with pytest.raises(TypeError, match="got int"):
        client_of(3)
    with pytest.raises(ValueError, match="name='a/b' should be"):
        client_of(xor_model(), name="a/b")
    with pytest.raises(Exception, match="not fitted"):
        client_of(ClusteredSVC())
    for limit in ("max_body", "max_rows", "timeout", "n_threads"):
        with pytest.raises(ValueError, match=f"{limit} should be a number above 0"):
            client_of(xor_model(), **{limit: 0})
