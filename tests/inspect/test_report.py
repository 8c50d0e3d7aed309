import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from additive_data import mixed_table
from localsvm import (
    AdditiveSVC,
    ClusteredSVC,
    LocalSVC,
    MixtureSVC,
    ReducedSVC,
    StagedSVC,
    SupportClusterSVC,
)
from localsvm._progress import listening
from localsvm.data import RowSketch, row_hashes
from localsvm.estimators import LocallyLinearSVC, NeighborSVC
from localsvm.inspect import compare_peers, region_table, score_model, write_report
from localsvm.inspect._report import _text, _write
from localsvm.inspect._report._certificate import certify
from localsvm.inspect._report._svg import Picture
from report_data import HOSTILE, hostile_model, xor_model

ALWAYS = ["summary", "data", "method", "scores", "peers", "regions", "fit"]
ALWAYS += ["calibration", "examples", "load"]
OF_REGIONS = ["map", "weights", "errors"]
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Text, elements and attributes of a page; refuses tags that do not match."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.open, self.text = [], [], [], []
        self.scripts = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        else:
            self.text.append(data)

    def of(self, name, tag=None):
        return [v for t, n, v in self.attributes if n == name and tag in (None, t)]

    @property
    def sections(self):
        return self.of("id", "section")

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())

    @property
    def document(self):
        return json.loads(self.scripts[0])


def read(path):
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def xor_page(tmp_path_factory):
    model, train, test = xor_model()
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(
        model, *test, path, X_train=train[0], y_train=train[1], title="Four squares"
    )
    return read(path)


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    model, train, test = hostile_model()
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    write_report(
        model,
        *test,
        path,
        X_train=train[0],
        y_train=train[1],
        title=HOSTILE[0],
        notes={HOSTILE[0]: HOSTILE[2], "half": "\ud83d"},
        model_path=f"/folder/{HOSTILE[1].replace('/', '')}.lsvm",
    )
    return read(path)


@pytest.fixture
def quick(monkeypatch):
    """Leave out what takes most of the time: saving pictures."""
    for name in ("_drawn", "_region_section", "_score_section"):
        monkeypatch.setattr(
            f"localsvm.inspect._report.{name}.picture_of",
            lambda figure, name, text: Picture("<svg></svg>", True, text),
        )


def test_page_has_all_sections(xor_page):
    assert sorted(xor_page.sections) == sorted(ALWAYS + OF_REGIONS)
    links = [link[1:] for link in xor_page.of("href", "a")]
    assert links == xor_page.sections
    assert "Four squares" in xor_page.words


def test_page_loads_nothing(xor_page):
    assert not {"link", "iframe", "object"} & set(xor_page.tags)
    links = xor_page.of("href") + xor_page.of("xlink:href")
    assert all(link.startswith(("#", "data:image/png")) for link in links)
    assert all(source.startswith("data:") for source in xor_page.of("src"))
    policy = xor_page.of("content", "meta")
    assert any("default-src 'none'" in content for content in policy)


def test_ids_are_unique_and_references_have_targets(xor_page):
    ids = xor_page.of("id")
    assert len(ids) == len(set(ids))
    links = xor_page.of("href") + xor_page.of("xlink:href")
    references = {link[1:] for link in links if link.startswith("#")}
    styles = " ".join(v or "" for _, _, v in xor_page.attributes)
    references |= set(re.findall(r"url\(#([^)]+)\)", styles))
    assert references <= set(ids)


def test_numbers_are_those_of_the_parts(xor_page):
    model, train, test = xor_model()
    scores = score_model(model, *test)
    assert xor_page.document["scores"] == scores.to_dict()
    assert _text.percent(scores.accuracy.value) in "".join(xor_page.text)
    peers = compare_peers(model, *train, *test)
    found = xor_page.document["peers"]
    for peer, other in zip(peers, found, strict=True):
        assert other["accuracy"] == peer.to_dict()["accuracy"]
        assert other["difference"] == peer.to_dict()["difference"]
    table = region_table(model, *test)
    regions = {each["region"]: each for each in xor_page.document["regions"]}
    assert {r.region: r.accuracy for r in table} == {
        region: each["accuracy"] for region, each in regions.items()
    }
    assert "More accurate than LinearSVC" in xor_page.words


def test_examples_are_the_surest_and_the_closest_rows(xor_page):
    model, _, (X, y) = xor_model()
    right, lead = model.predict(X) == y, np.abs(model.decision_function(X))
    surest = np.argmax(np.where(right, lead, -1))
    mistake = np.argmax(np.where(right, -1, lead))
    assert f"The surest right answer: scored row {surest}" in xor_page.words
    assert f"The surest mistake: scored row {mistake}" in xor_page.words
    assert f"The closest decision: scored row {lead.argmin()}" in xor_page.words
    value = model.decision_function(X)[mistake]
    assert f"decision value {value:+.3g}" in xor_page.words


def test_nothing_of_the_user_becomes_markup(hostile_page):
    assert hostile_page.tags.count("script") == 2
    assert not [n for _, n, _ in hostile_page.attributes if n.startswith("on")]
    assert "alert" not in hostile_page.scripts[1]
    assert "img" not in hostile_page.tags
    assert HOSTILE[0] in hostile_page.words
    assert "{{ 7 * 7 }}" in hostile_page.words
    assert "\u05e9\u05dc\u05d5\u05dd" in hostile_page.words
    assert hostile_page.document["scores"]["classes"][0]["label"] == HOSTILE[0]


def test_long_names_are_cut_and_broken_ones_mended(hostile_page):
    assert max(map(len, hostile_page.words.split())) <= 500
    assert not set("\x00\u202e") & set(hostile_page.words)
    assert "nul \ufffd tab" in hostile_page.words
    assert "half \ufffd" in hostile_page.words
    assert "…" in hostile_page.words


def test_names_stand_apart_from_their_direction(hostile_page):
    assert hostile_page.tags.count("bdi") > 20


def test_only_the_name_of_the_model_file_is_told(hostile_page):
    assert "/folder" not in hostile_page.words
    assert ".lsvm" in hostile_page.words


@pytest.mark.parametrize(
    "estimator",
    [
        ClusteredSVC(3, random_state=0),
        StagedSVC(random_state=0),
        LocalSVC(random_state=0),
        MixtureSVC(3, random_state=0),
        LocallyLinearSVC(10, random_state=0),
        SupportClusterSVC(random_state=0),
        ReducedSVC(random_state=0),
        NeighborSVC(),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_has_a_report(estimator, three_classes, tmp_path):
    X, y = three_classes
    estimator.fit(X[:160], y[:160])
    path = write_report(estimator, X[160:], y[160:], tmp_path / "report.html")
    page = read(path)
    assert page.document["model"] == type(estimator).__name__
    assert set(ALWAYS) <= set(page.sections)
    with_regions = hasattr(estimator, "region_class_counts_")
    assert (set(OF_REGIONS) <= set(page.sections)) == with_regions
    if not with_regions:
        name = type(estimator).__name__
        assert f"{name} has no regions: one function decides" in page.words
    assert "need the training rows, which the report did not get" in page.words
    is_ours = not isinstance(estimator, LogisticRegression)
    assert ("The surest right answer: scored row" in page.words) == is_ours


def test_a_pipeline_shows_its_steps_and_columns(tmp_path, quick):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 70, 300).astype(float),
            "town": rng.choice(["Ulm", "Bonn", None], 300),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(300), "D"),
            "member": rng.random(300) < 0.5,
        }
    )
    table.loc[::10, "age"] = np.nan
    y = np.where(table["age"].fillna(0) > 45, "old", "young")
    from localsvm.data import TableEncoder

    model = make_pipeline(TableEncoder(), ClusteredSVC(3, random_state=0))
    model.fit(table[:200], y[:200])
    file = tmp_path / "report.html"
    write_report(
        model,
        table[200:],
        y[200:],
        file,
        X_train=table[:200],
        y_train=y[:200],
        peers=False,
        notes="First.\n\nSecond\nline.",
    )
    words = read(file).words
    assert "1. TableEncoder" in words
    assert "2. ClusteredSVC" in words
    assert re.search(r"age number 20 2\d to 6\d, median", words)
    assert re.search(r"town category \d+ (Ulm|Bonn):", words)
    assert "since date 0 2024-01-01 to 2024-07-18" in words
    assert re.search(r"member boolean 0 (True|False)", words)
    assert "4 columns, encoded as" in words
    assert "No other classifier was compared." in words
    assert "asked" not in words
    assert "First. Second line." in words


@pytest.mark.parametrize("kind", ["polars", "csr", "csr_array", "array"])
def test_rows_of_any_kind(kind, two_moons, tmp_path, quick):
    X, y = two_moons
    make = {
        "polars": lambda rows: pl.DataFrame(rows, schema=["a", "b"]),
        "csr": sparse.csr_matrix,
        "csr_array": sparse.csr_array,
        "array": np.asarray,
    }[kind]
    model = ClusteredSVC(4, random_state=0).fit(make(X[:200]), y[:200])
    train = {"X_train": make(X[:200]), "y_train": y[:200]}
    path = tmp_path / "report.html"
    words = read(write_report(model, make(X[200:]), y[200:], path, **train)).words
    assert "100 scored rows, 200 training rows, 2 columns" in words
    assert ("of the entries are not zero" in words) == kind.startswith("csr")


def test_given_peers_are_not_computed_again(tmp_path, monkeypatch, quick):
    model, train, test = xor_model()
    peers = compare_peers(model, *train, *test)[:2]
    monkeypatch.setattr(
        "localsvm.inspect._report._compose.compare_peers",
        lambda *_: pytest.fail("computed"),
    )
    page = read(write_report(model, *test, tmp_path / "report.html", peers=peers))
    assert [peer["name"] for peer in page.document["peers"]] == [
        "ClusteredSVC",
        "LinearSVC",
    ]


def test_a_classifier_of_fewer_rows_is_not_in_the_summary(tmp_path, quick):
    model, train, test = xor_model()
    peers = compare_peers(model, *train, *test, sample=100)
    page = read(write_report(model, *test, tmp_path / "report.html", peers=peers))
    assert "difference from SVC" not in page.words
    assert "accurate than SVC" not in page.words
    assert "Not compared, because fitted on fewer rows: SVC (100)." in page.words
    assert "100 of 400" in page.words
    assert "not compared: fewer rows" in page.words
    assert "than LinearSVC by" in page.words


def test_training_rows_are_called_so_at_the_top(tmp_path, quick):
    model, (X, y), (X_test, y_test) = xor_model()
    given = {"X_train": X, "y_train": y}
    path = tmp_path / "report.html"
    words = read(write_report(model, X[:50], y[:50], path, **given)).words
    first = "TRAINING ROWS: all of these 50 rows were in the fit"
    assert words.index(first) < words.index("Accuracy")
    assert "training rows do not tell which of two is better" in words
    sketch = RowSketch.of(row_hashes(X, y))
    mixed = np.r_[X[:30], X_test], np.r_[y[:30], y_test]
    page = read(write_report(model, *mixed, path, fitted_rows=sketch))
    assert "TRAINING ROWS: 30 of these 230 rows" in page.document["rows"]
    words = read(write_report(model, X_test, y_test, path, **given)).words
    assert "200 rows, none of which was in the fit." in words
    words = read(write_report(model, X_test, y_test, path)).words
    assert "Whether some of these rows were in the fit is not known" in words


def test_unknown_labels_are_told(tmp_path, quick):
    model, _, (X, y) = xor_model()
    y = np.where(np.arange(len(y)) < 5, 9, y)
    words = read(write_report(model, X, y, tmp_path / "report.html")).words
    assert "Labels that the model does not know, and is wrong on: 9 (5 rows)" in words


def test_a_fit_that_did_not_converge_says_so(two_moons, tmp_path, quick):
    X, y = two_moons
    model = ClusteredSVC(4, random_state=0, max_iter=1, tol=1e-9)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    words = read(write_report(model, X, y, tmp_path / "report.html")).words
    assert "Stopped before the tolerance was reached: the largest relative" in words


@pytest.mark.parametrize(
    ("estimator", "verdict", "state"),
    [
        (ClusteredSVC(2, random_state=0), "Converged: the largest relative", "good"),
        (LocalSVC(random_state=0), "Converged: the largest violation", "good"),
        (MixtureSVC(2, random_state=0, em_tol=0.1), "Converged in", "good"),
        (
            MixtureSVC(2, random_state=0, em_tol=0.0, em_max_iter=1),
            "Stopped by a",
            "open",
        ),
        (ReducedSVC(random_state=0), "Converged: the largest violation", "good"),
        (NeighborSVC(), "The method does not tell", "unknown"),
        (LogisticRegression(), "The method does not tell", "unknown"),
    ],
)
def test_certificate_judges_the_fit(estimator, verdict, state, two_moons):
    certificate = certify(estimator.fit(*two_moons))
    assert certificate.verdict.startswith(verdict)
    assert certificate.state == state
    assert certificate.facts["random_state (seed)"] in ("0", "None")
    assert int(certificate.facts["iterations"].replace(",", "")) >= 1
    assert set(certificate.stages) == {
        name
        for name, value in getattr(estimator, "fit_report_", {}).items()
        if isinstance(value, float)
    }


def test_many_classes_are_listed_by_their_confusions(tmp_path, quick):
    X, y = load_digits(return_X_y=True)
    labels = np.array([f"digit {k}" for k in range(13)])
    y = np.where(np.arange(len(y)) % 3 == 0, y % 3 + 10, y)
    model = ClusteredSVC(5, random_state=0).fit(X[:900] / 16, labels[y[:900]])
    page = read(
        write_report(model, X[900:1500] / 16, labels[y[900:1500]], tmp_path / "a.html")
    )
    assert "13 classes are too many for a matrix" in page.words


def test_many_regions_and_features_stay_small(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 200)).astype(np.float32)
    y = rng.integers(0, 3, 3000)
    model = ClusteredSVC(150, random_state=0, max_iter=3, tol=1.0)
    model.fit(X[:2500], y[:2500])
    path = write_report(
        model,
        X[2500:],
        y[2500:],
        tmp_path / "report.html",
        X_train=X[:2500],
        y_train=y[:2500],
        peers=False,
    )
    page = read(path)
    assert path.stat().st_size < 3_000_000
    assert model.n_regions_ > 100
    hidden = model.n_regions_ - 100
    assert f"{hidden} more regions not shown: the smallest" in page.words
    assert "160 more columns not shown: those after the first 40" in page.words


def test_a_single_row_and_a_faultless_model(tmp_path, quick):
    model, _, (X, y) = xor_model()
    right = np.flatnonzero(model.predict(X) == y)[:1]
    page = read(write_report(model, X[right], y[right], tmp_path / "report.html"))
    assert "1 scored row," in page.words
    assert "No scored row is wrong in any region." in page.words


def test_same_input_gives_the_same_file(tmp_path, monkeypatch):
    monkeypatch.setattr(_write, "_now", lambda: "today")
    model, _, test = xor_model()
    first, second = (
        write_report(model, *test, tmp_path / name).read_bytes() for name in "ab"
    )
    assert first == second


def test_a_failed_report_leaves_the_old_file(tmp_path):
    model, _, (X, y) = xor_model()
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="none of the labels"):
        write_report(model, X, y.astype(str), path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_training_rows_need_their_labels(tmp_path):
    model, train, test = xor_model()
    with pytest.raises(ValueError, match="found only X_train"):
        write_report(model, *test, tmp_path / "a.html", X_train=train[0])
    with pytest.raises(ValueError, match="found only y_train"):
        write_report(model, *test, tmp_path / "a.html", y_train=train[1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        write_report(
            model, *test, tmp_path / "a.html", X_train=test[0], y_train=train[1]
        )


@pytest.mark.parametrize("module", ["jinja2", "matplotlib"])
def test_missing_package_is_named(module, tmp_path, monkeypatch):
    model, _, test = xor_model()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs {module}.*\n.*'localsvm\[report\]'"):
        write_report(model, *test, tmp_path / "a.html")


def test_stages_are_told(tmp_path, quick):
    model, train, test = xor_model()
    told = []
    path = tmp_path / "report.html"
    with listening(told.append):
        write_report(model, *test, path, X_train=train[0], y_train=train[1])
    assert ("score",) in told
    assert ("write",) in told
    assert any(stages and stages[-1] == "fit SVC" for stages in told)


def test_labels_and_pictures_of_unknown_classes(tmp_path):
    model, _, (X, y) = xor_model()
    words = read(
        write_report(model, X, np.where(X[:, 0] > 2, 7, y), tmp_path / "a.html")
    )
    assert "by region" in words.words
    assert "by class" not in words.words


def test_map_of_few_regions_is_by_class_and_region(xor_page):
    assert "by class" in xor_page.words
    assert "by region" in xor_page.words
    assert "in 4 regions. The background is the predicted class" in xor_page.words


def test_matplotlib_settings_are_left_alone(tmp_path):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    model, _, test = xor_model()
    write_report(model, *test, tmp_path / "report.html")
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not mpl.pyplot.get_fignums()


@pytest.mark.parametrize(
    ("function", "value", "words"),
    [
        (_text.percent, 0.8563, "85.6\u00a0%"),
        (_text.percent, 0.0001, "<\u00a00.1\u00a0%"),
        (_text.percent, 0.0, "0.0\u00a0%"),
        (_text.points, 0.0123, "+1.23"),
        (_text.points, -0.0123, "\u22121.23"),
        (_text.points, -0.00001, "0.00"),
        (_text.seconds, 2.5e-7, "0.25\u00a0µs"),
        (_text.seconds, 0.0123, "12\u00a0ms"),
        (_text.seconds, 4.21, "4.2\u00a0s"),
        (_text.seconds, 75.3, "75\u00a0s"),
        (_text.seconds, 150.0, "2.5\u00a0min"),
        (_text.number, 12345.0, "12,345"),
        (_text.number, 12345.6, "12,346"),
        (_text.number, 0.00012345, "0.0001234"),
        (_text.number, float("nan"), "nan"),
        (_text.p_value, 0.0001, "< 0.001"),
        (_text.p_value, 0.25, "= 0.250"),
    ],
)
def test_numbers_in_words(function, value, words):
    assert function(value) == words


def test_pipeline_of_a_scaler(two_moons, tmp_path, quick):
    X, y = two_moons
    model = make_pipeline(StandardScaler(), ReducedSVC(random_state=0)).fit(X, y)
    page = read(write_report(model, X, y, tmp_path / "report.html"))
    assert "1. StandardScaler" in page.words
    assert page.document["model"] == "ReducedSVC"


def test_additive_model_shows_what_its_columns_add(tmp_path):
    X, y, categorical = mixed_table()
    model = AdditiveSVC(C=1.0, categorical_features=categorical).fit(X[:400], y[:400])
    page = read(
        write_report(model, X[400:], y[400:], tmp_path / "report.html", peers=False)
    )
    assert sorted(page.sections) == sorted([*ALWAYS, "effects"])
    assert "What 4 columns add to the decision for class “1”" in page.words
    assert "one table of effects per feature" in page.words
