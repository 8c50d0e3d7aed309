"""The page to try a row, as text and in a real browser."""

import contextlib
import json
import re
import shutil

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline

from localsvm import ClusteredSVC
from localsvm.data import TableEncoder
from localsvm.serve import create_app
from serve_data import client_of, people, people_model, trees_model, xor_model
from served_process import serving_on_thread

CHROMIUM = next(
    filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])),
    None,
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs chromium: apt-get install chromium"
)
HOSTILE = "</script><script>alert(1)</script>"


def known(page):
    """What the page has been told of the model."""
    found = re.search(r'id="model">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


def test_page_knows_the_columns_and_their_usual_values():
    page = known(client_of(people_model()).get("/").text)
    columns = {column["name"]: column for column in page["columns"]}
    assert list(columns) == ["age", "town", "member", "moved", "note"]
    assert columns["town"]["categories"] == ["Bonn", "Kiel", "Ulm"]
    assert columns["age"]["usual"] == people()[0]["age"].median()
    assert re.fullmatch(r"202\d-\d\d-\d\d", columns["moved"]["usual"])
    assert page["classes"] == ["no", "yes"]


def test_page_knows_columns_of_codes():
    table, happy = people()
    share = np.array(["0%", "1 - 10%", "11% up"])[np.arange(300) % 3]
    encoder = TableEncoder(kinds={"note": "text"}, encoding="codes")
    model = make_pipeline(encoder, SimpleImputer(), ClusteredSVC(4, random_state=0))
    model.fit(table.assign(share=share), happy)
    page = known(client_of(model).get("/").text)
    columns = {column["name"]: column for column in page["columns"]}
    assert list(columns) == ["age", "town", "member", "moved", "note", "share"]
    assert set(columns["town"]["categories"]) == {"Bonn", "Kiel", "Ulm"}
    assert columns["town"]["usual"] == table["town"].value_counts().index[0]
    assert columns["share"]["categories"] == ["0%", "1 - 10%", "11% up"]
    assert columns["age"]["usual"] == table["age"].median()
    assert columns["member"]["usual"] is False
    assert re.fullmatch(r"202\d-\d\d-\d\d", columns["moved"]["usual"])


def test_page_begins_with_the_means_of_a_scaler():
    page = known(client_of(trees_model()).get("/").text)
    usual = [column["usual"] for column in page["columns"]]
    assert usual == pytest.approx(trees_model()[0].mean_, rel=1e-5)


def test_page_asks_nobody_else_and_runs_no_other_script():
    answer = client_of(xor_model()).get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"(src|href)=.(https?:)?//", answer.text)


def hostile_model():
    table, happy = people()
    table = table[["age", "town"]].rename(columns={"age": HOSTILE})
    table["town"] = table["town"].replace("Ulm", HOSTILE)
    steps = [("table", TableEncoder()), ("model", ClusteredSVC(random_state=0))]
    return Pipeline(steps).fit(table, np.where(happy == "yes", HOSTILE, "no"))


def test_names_cannot_leave_their_place():
    page = client_of(hostile_model()).get("/").text
    assert page.count("<script") == 2
    assert known(page)["columns"][0]["name"] == HOSTILE


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield opened
        opened.close()


@pytest.fixture
def visit(browser):
    """Serve a model and open its page; errors and foreign requests are noted."""
    troubles = []

    def open_page(model, width=390):
        address = servers.enter_context(serving_on_thread(create_app(model)))
        page = browser.new_page(viewport={"width": width, "height": 844})
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(address)
                or request.url.startswith("data:")
                or troubles.append(request.url)
            ),
        )
        page.goto(address)
        return page, troubles

    with contextlib.ExitStack() as servers:
        yield open_page


@needs_chromium
def test_a_row_is_tried_on_a_phone(visit):
    page, troubles = visit(people_model())
    page.get_by_label("age").fill("40")
    page.get_by_label("town").select_option("Ulm")
    page.get_by_role("button", name="Predict").click()
    page.locator("#parts tr").first.wait_for()
    assert page.locator("#label").inner_text() == "no"
    names = page.locator("#parts td.name").all_inner_texts()
    kept = {"age", "town", "member", "moved", "note", "constant"}
    assert set(names) == {*kept, "planet"}
    assert page.locator("#parts svg").count() == len(names)
    assert page.locator("#changes li").count() >= 1
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    assert troubles == []


@needs_chromium
def test_what_is_wrong_with_a_row_is_shown(visit):
    page, troubles = visit(people_model())
    page.get_by_label("age").fill("forty")
    page.get_by_role("button", name="Predict").click()
    assert page.locator("#error").inner_text() == 'age is "forty"; expected a number.'
    page.get_by_label("age").fill("")
    page.get_by_label("moved").fill("soon")
    page.get_by_role("button", name="Predict").click()
    page.locator("#error", has_text="moved").wait_for()
    assert not page.locator("#answer").is_visible()
    # The browser tells of the refused request itself.
    assert all("400" in trouble for trouble in troubles)


@needs_chromium
def test_several_classes_have_a_bar_each(visit):
    page, troubles = visit(trees_model(), width=1280)
    page.get_by_role("button", name="Predict").click()
    page.locator("#parts tr").first.wait_for()
    chances = page.locator("#chances td.number").all_inner_texts()
    assert sum(float(text.rstrip(" %")) for text in chances) == pytest.approx(
        100, abs=0.2
    )
    assert troubles == []


@needs_chromium
def test_hostile_names_are_shown_as_text(visit):
    page, troubles = visit(hostile_model())
    page.get_by_role("button", name="Predict").click()
    page.locator("#parts tr").first.wait_for()
    assert HOSTILE in page.locator("#parts td.name").all_inner_texts()
    assert troubles == []


@needs_chromium
def test_many_columns_are_one_field(visit):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 150))
    model = ClusteredSVC(n_regions=2, random_state=0).fit(X, X[:, 0] > 0)
    page, troubles = visit(model)
    field = page.locator("textarea")
    field.fill(" ".join(["1"] * 149))
    page.get_by_role("button", name="Predict").click()
    assert "There are 149 values; expected 150." in page.locator("#error").inner_text()
    field.fill(", ".join(["1"] * 150))
    page.get_by_role("button", name="Predict").click()
    page.locator("#parts tr").first.wait_for()
    assert "others" in page.locator("#parts").inner_text()
    assert troubles == []
