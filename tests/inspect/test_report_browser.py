"""The report in a real browser."""

import shutil

import pytest

from localsvm.inspect import write_report
from report_data import HOSTILE, census_model, hostile_model, xor_model

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

CHROMIUM = next(
    filter(
        None,
        map(shutil.which, ["chromium", "chromium-browser", "google-chrome", "chrome"]),
    ),
    None,
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs chromium: apt-get install chromium"
)
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
CONTRAST = """
() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = numbers(color).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      const parts = numbers(color);
      if (parts.length === 3 || parts[3] === 1) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const worst = { ratio: 99, text: "" };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode()); ) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest("svg, script, style")) continue;
    const pair = [light(getComputedStyle(element).color), light(ground(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < worst.ratio) Object.assign(worst, { ratio, text: node.textContent });
  }
  return worst;
}
"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    found = {}
    models = {"xor": xor_model, "hostile": hostile_model, "census": census_model}
    for name, make in models.items():
        model, train, test = make()
        found[name] = write_report(
            model,
            *test,
            folder / f"{name}.html",
            X_train=train[0],
            y_train=train[1],
            peers=name != "census",
            title=HOSTILE[0] if name == "hostile" else None,
        )
    return found


@pytest.fixture
def visit(browser, files):
    """Open a page; whatever it logs, asks for or pops up is an error."""
    contexts, troubles = [], []

    def open_page(name="xor", viewport=DESKTOP, **options):
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda request: troubles.append(request.url))
        page.goto(files[name].as_uri())
        troubles.remove(files[name].as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.mark.parametrize("name", ["xor", "hostile"])
def test_page_opens_without_errors_or_requests(visit, name):
    page = visit(name)
    assert page.locator("section").count() >= 9
    assert page.locator("h1").is_visible()
    if name == "hostile":
        assert page.title() == HOSTILE[0]
        assert page.locator("h1").inner_text() == HOSTILE[0]


@pytest.mark.parametrize("name", ["xor", "hostile"])
def test_page_is_as_wide_as_the_screen(visit, name):
    page = visit(name, PHONE)
    for width in (320, 390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("document.body.scrollWidth") <= width


def test_wide_tables_scroll_inside(visit):
    page = visit(viewport=PHONE)
    table = page.locator("#regions .scroll")
    assert table.evaluate("box => box.scrollWidth > box.clientWidth")
    table.evaluate("box => box.scrollTo(10000, 0)")
    assert table.evaluate("box => box.scrollLeft") > 0


def test_tables_of_usual_rows_need_no_scrolling(visit):
    page = visit("census")
    wide = page.locator(".scroll").evaluate_all(
        "all => all.filter(box => box.scrollWidth > box.clientWidth)"
        ".map(box => box.getAttribute('aria-label'))"
    )
    assert wide == []


def sort_values(page, column):
    cells = page.locator(f"#regions tbody tr > :nth-child({column})")
    return [
        float(value) for value in cells.evaluate_all("c => c.map(x => x.dataset.value)")
    ]


@pytest.mark.parametrize("key", [None, "Enter", "Space"])
def test_tables_sort_by_click_and_key(visit, key):
    page = visit()
    head = page.locator("#regions thead th", has_text="accuracy")
    column = 1 + head.evaluate("cell => cell.cellIndex")
    others = page.locator("#regions thead th[aria-sort]")
    press = head.locator("button")
    for direction in ("ascending", "descending"):
        press.click() if key is None else press.press(key)
        values = sort_values(page, column)
        assert len(values) == 4
        assert values == sorted(values, reverse=direction == "descending")
        assert head.get_attribute("aria-sort") == direction
        states = others.evaluate_all("all => all.map(x => x.ariaSort)")
        assert sorted(states)[1:] == ["none"] * (len(states) - 1)


def test_words_sort_too(visit):
    page = visit()
    head = page.locator("#regions thead th", has_text="classes")
    column = 1 + head.evaluate("cell => cell.cellIndex")
    head.locator("button").click()
    words = page.locator(f"#regions tbody tr > :nth-child({column})").all_inner_texts()
    assert words == sorted(words)


def test_page_can_be_read_without_scripts(visit):
    page = visit(java_script_enabled=False)
    assert page.locator("#regions tbody tr").count() == 4
    assert page.locator("th button").count() == 0
    assert page.locator("figure svg").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(visit, scheme):
    page = visit(color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    worst = page.evaluate(CONTRAST)
    assert worst["ratio"] >= 4.5, worst


def test_pictures_are_seen(visit):
    page = visit(viewport=PHONE)
    pictures = page.locator("figure svg, figure img")
    assert pictures.count() >= 2
    for picture in pictures.all():
        box = picture.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 80


@pytest.mark.parametrize("name", ["xor", "hostile"])
def test_page_prints_in_full(visit, name):
    page = visit(name, color_scheme="dark")
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page/") >= 3
    page.emulate_media(media="print", color_scheme="dark")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    page.set_viewport_size({"width": 703, "height": 1000})  # A4 without margins
    assert page.evaluate("document.documentElement.scrollWidth") == 703
    styles = (
        "all => all.map(x => getComputedStyle(x)).map(s => s.overflowX + s.maxHeight)"
    )
    assert set(page.locator(".scroll").evaluate_all(styles)) == {"visiblenone"}


def test_headings_and_links_lead_through_the_page(visit):
    page = visit()
    levels = page.locator("h1, h2, h3").evaluate_all("a => a.map(x => x.tagName)")
    assert levels[0] == "H1"
    assert levels.count("H1") == 1
    for link in page.locator("nav a").all():
        link.click()
        target = link.get_attribute("href")
        assert page.locator(target).is_visible()
    assert page.url.endswith("#load")
