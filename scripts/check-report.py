#!/usr/bin/env python3
"""Opens reports of Quarry in headless Chromium and validates the files for other tools.

Method: reports are generated for an example, for a function with a crash and, with goals multiplied to 5,000, for a large run.
Playwright drives Debian's Chromium: no message on the console, every view by address and by key, filters, MC/DC tables, both
colour schemes, wide and narrow. lcov.info goes through genhtml, XML through xmllint with scripts/schemas/, SARIF through its own
JSON schema, which the crate serde-sarif carries. Playwright, jsonschema and the schema live in the cache. Limit: what a page looks like is for people to
judge; --shots DIR keeps screenshots for them.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("QUARRY_CACHE") or pathlib.Path.home() / ".cache/quarry")
PACKAGES = ["playwright==1.65.0", "jsonschema==4.26.0"]
SARIF_CRATE = "0.8.0"
VIEWS = ["overview", "source", "decision", "goal", "test", "finding"]
SIZES = {"wide": (1440, 900), "narrow": (400, 860)}
MANY_GOALS = 5000
# Seconds until a filter is applied, and until the next goal is shown, with what the browser does to lay it out.
FILTER = """text => {
  const [input, started] = [document.getElementById('filter'), performance.now()];
  input.value = text;
  input.dispatchEvent(new Event('input'));
  return document.body.offsetHeight && (performance.now() - started) / 1000;
}"""
STEP = """n => {
  const started = performance.now();
  for (let step = 0; step < n; step += 1) {
    document.querySelector('main').dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
    document.body.offsetHeight;
  }
  return (performance.now() - started) / 1000 / n;
}"""


def main() -> int:
    options = parse_arguments()
    enter_environment()
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        triangle = generate(options.quarry, work / "triangle", "examples/triangle.c", "--criterion", "branch,mcdc,statement")
        crashing = generate(options.quarry, work / "crashing", "fixtures/memory/off_by_one.c")
        for run in (triangle, crashing):
            check_formats(run)
        large = multiplied(options.quarry, triangle, work / "large")
        from playwright.sync_api import sync_playwright
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            for name, run in {"triangle": triangle, "crashing": crashing}.items():
                look_at_every_view(browser, run, name, options.shots)
            check_keys_and_filters(browser, triangle)
            check_mcdc_table(browser, triangle)
            check_finding(browser, crashing)
            check_large(browser, large)
            browser.close()
    print("check-report: 3 reports, all well")
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quarry", type=pathlib.Path, default=ROOT / "target/release/quarry")
    parser.add_argument("--shots", type=pathlib.Path, help="directory for screenshots")
    options = parser.parse_args()
    options.quarry = options.quarry.resolve()
    return options


def enter_environment() -> None:
    """Goes on with the Python that has Playwright, which is installed when it is not there yet."""
    home = CACHE / "check-report"
    python = home / "bin/python"
    if pathlib.Path(sys.prefix) == home:
        return
    wanted = home / ("-".join(PACKAGES).replace("=", "") + ".complete")
    if not wanted.exists():
        print("check-report: installing Playwright", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(home / "bin/pip"), "install", "--quiet", *PACKAGES], check=True)
        wanted.touch()
    os.execv(python, [str(python), *sys.argv])


def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        sys.exit("check-report: there is no Chromium: run scripts/setup.sh --tests")
    return found


def generate(quarry: pathlib.Path, out: pathlib.Path, source: str, *arguments: str) -> pathlib.Path:
    run([str(quarry), "gen", source, "--budget", "20s", "--quiet", "-o", str(out), *arguments])
    return out


def run(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"check-report: {' '.join(command)} failed\n{done.stdout}{done.stderr}")
    return done.stdout


def check_formats(directory: pathlib.Path) -> None:
    """Every file as its own tool, or its schema, sees it."""
    report, schemas = directory / "report", ROOT / "scripts/schemas"
    run(["genhtml", "--quiet", "--branch-coverage", "-o", str(directory / "genhtml"), str(report / "lcov.info")])
    run(["xmllint", "--noout", "--nonet", "--dtdvalid", str(schemas / "cobertura.dtd"), str(report / "cobertura.xml")])
    run(["xmllint", "--noout", "--nonet", "--schema", str(schemas / "junit.xsd"), str(report / "junit.xml")])
    import jsonschema
    jsonschema.validate(json.loads((report / "results.sarif").read_text()), json.loads(sarif_schema().read_text()))


def sarif_schema() -> pathlib.Path:
    """The schema of SARIF 2.1.0, from the sources of a crate that is made from it."""
    kept = CACHE / "check-report" / f"sarif-2.1.0-{SARIF_CRATE}.json"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as directory:
            manifest = pathlib.Path(directory) / "Cargo.toml"
            (manifest.parent / "lib.rs").touch()
            dependency = f'[dependencies]\nserde-sarif = "={SARIF_CRATE}"\n[lib]\npath = "lib.rs"\n[workspace]\n'
            manifest.write_text(f'[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n{dependency}')
            told = json.loads(run(["cargo", "metadata", "--format-version", "1", "--manifest-path", str(manifest)]))
        crate = next(package for package in told["packages"] if package["name"] == "serde-sarif")
        shutil.copy(pathlib.Path(crate["manifest_path"]).parent / "src/schema.json", kept)
    return kept


def multiplied(quarry: pathlib.Path, original: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """The same run with goals repeated until there are very many, every seventh undecided."""
    shutil.copytree(original, directory)
    goals = [json.loads(line) for line in (original / "goals.jsonl").read_text().splitlines()]
    lines = []
    for index in range(MANY_GOALS):
        goal = dict(goals[index % len(goals)], id=index)
        if index % 7 == 0:
            goal.pop("test", None)
            goal.update(state="undecided", reason="the budget ended first")
        lines.append(json.dumps(goal))
    (directory / "goals.jsonl").write_text("\n".join(lines) + "\n")
    run([str(quarry), "report", str(directory)])
    return directory


class Page:
    """A report in a browser; any message on its console is a failure."""

    def __init__(self, browser, directory: pathlib.Path, scheme: str = "light", size: str = "wide"):
        width, height = SIZES[size]
        self.context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height}, offline=True)
        self.page = self.context.new_page()
        self.address = f"file://{directory / 'report/index.html'}"
        self.messages: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("requestfailed", lambda request: self.messages.append(f"asks for {request.url}"))

    def __enter__(self):
        self.page.goto(self.address)
        return self.page

    def __exit__(self, kind, *_):
        self.context.close()
        if kind is None:
            expect(not self.messages, f"{self.address}: the console says {self.messages}")


def expect(holds: bool, complaint: str) -> None:
    if not holds:
        sys.exit(f"check-report: {complaint}")


def look_at_every_view(browser, directory: pathlib.Path, name: str, shots: pathlib.Path | None) -> None:
    for scheme in ("light", "dark"):
        for size in SIZES:
            with Page(browser, directory, scheme, size) as page:
                for view in VIEWS:
                    page.evaluate("view => { location.hash = view; }", view)
                    page.wait_for_selector(f"body[data-view={view}] main > *")
                    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                    expect(overflow <= 0, f"{name}: {view} is wider than a {size} screen by {overflow} pixels")
                    current = page.locator("nav [aria-current=page]").get_attribute("data-view")
                    expect(current == view, f"{name}: {current} is marked, {view} is shown")
                    words = page.locator("main").inner_text().split()
                    nothing = {"undefined", "null", "NaN", "[object"} & set(words)
                    expect(not nothing, f"{name}: {view} says {nothing}")
                    if shots:
                        shots.mkdir(parents=True, exist_ok=True)
                        page.screenshot(path=shots / f"{name}-{view}-{size}-{scheme}.png")
    with Page(browser, directory, "dark") as page:
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    with Page(browser, directory, "light") as page:
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    expect(dark != light, f"{name}: dark and light have the same background {dark}")


def check_keys_and_filters(browser, directory: pathlib.Path) -> None:
    n_goals = len((directory / "goals.jsonl").read_text().splitlines())
    with Page(browser, directory) as page:
        for landmark in ("header", "nav[aria-label]", "main"):
            expect(page.locator(landmark).count() == 1, f"there is no landmark {landmark}")
        page.keyboard.press("4")
        page.wait_for_selector("body[data-view=goal] [role=option]")
        expect(f"{n_goals} goals" in page.locator(".count").inner_text(), "the goals are not counted")
        page.keyboard.press("j")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("k")
        selected = page.locator("[role=option][aria-selected=true]")
        expect(selected.get_attribute("aria-posinset") == "2", "j, down and k do not lead to the second goal")
        page.keyboard.press("/")
        page.keyboard.type("being true decides")
        n_shown = int(page.locator(".count").inner_text().split()[0])
        expect(0 < n_shown < n_goals, f"the filter shows {n_shown} of {n_goals} goals")
        expect("being true decides" in page.locator("[role=option]").first.inner_text(), "the filter shows what does not match")
        page.keyboard.press("Escape")
        page.keyboard.press("Enter")
        focused = page.evaluate("document.activeElement.getAttribute('href') || ''")
        expect(focused.startswith("#source/"), f"Enter leads to '{focused}', not to the goal's place")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        expect(outline != "none", "what has the focus does not show it")
        page.keyboard.press("Enter")
        page.wait_for_selector("body[data-view=source] .line[aria-selected=true]")
        expect(page.locator(".line .condition").count() > 0, "no condition is marked in the source")
        expect(page.locator(".detail .chip").count() > 0, "no test is named beside the source")
        page.keyboard.press("?")
        expect(page.locator("#help[open]").count() == 1, "? does not show the keys")
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        page.wait_for_selector("body[data-view=overview] .curve svg")
        expect(page.locator(".curve svg path.line").count() == 2, "there are not two curves")


def check_mcdc_table(browser, directory: pathlib.Path) -> None:
    facts = json.loads((directory / "coverage/facts.json").read_text())
    number, decision = max(enumerate(facts["decisions"]), key=lambda pair: len(pair[1]["conditions"]))
    with Page(browser, directory) as page:
        page.evaluate("hash => { location.hash = hash; }", f"decision/{number}")
        page.wait_for_selector(".vectors")
        rows = page.locator(".vectors tbody tr").count()
        expect(rows == len(decision["vectors"]), f"{rows} evaluations are shown, not {len(decision['vectors'])}")
        conditions = page.locator(".conditions tbody tr").count()
        expect(conditions == len(decision["conditions"]), f"{conditions} conditions are shown")
        pair = decision["conditions"][0]["pairs"][0]
        page.locator(".conditions .name").first.click()
        page.mouse.move(0, 0)
        lit = page.eval_on_selector_all(".vectors tbody tr", "rows => rows.flatMap((row, index) => row.classList.contains('lit') ? [index] : [])")
        expect(sorted(lit) == sorted([pair["when_true"], pair["when_false"]]), f"rows {lit} are lit, the pair is {pair}")
        page.locator(".conditions .chip").first.click()
        page.wait_for_selector("body[data-view=test] .detail .json")


def check_finding(browser, directory: pathlib.Path) -> None:
    with Page(browser, directory) as page:
        page.keyboard.press("6")
        page.wait_for_selector("body[data-view=finding] [role=option]")
        text = page.locator(".detail").inner_text()
        for part in ("out-of-bounds", "off_by_one.c:", "quarry replay", "-fsanitize=address"):
            expect(part in text, f"the finding does not tell '{part}'")


def check_large(browser, directory: pathlib.Path) -> None:
    """Many goals: opening, filtering and walking through them takes no time that a person would notice."""
    with Page(browser, directory) as page:
        started = time.monotonic()
        page.goto("about:blank")
        page.goto(f"file://{directory / 'report/index.html'}#goal")
        page.wait_for_selector("[role=option]")
        took = {"open": time.monotonic() - started}
        n_rows = page.locator("[role=option]").count()
        expect(n_rows < 100, f"{n_rows} rows are elements at once")
        # measured within the page: the way there takes as long as the machine is busy
        took["filter"] = page.evaluate(FILTER, "undecided")
        shown = int(page.locator(".count").inner_text().split()[0].replace(",", ""))
        expect(shown == (MANY_GOALS + 6) // 7, f"the filter shows {shown} goals")
        took["step"] = page.evaluate(STEP, 50)
        page.focus("[role=listbox]")
        page.keyboard.press("End")
        last = page.locator("[role=option][aria-selected=true]").get_attribute("aria-posinset")
        expect(last == str(shown), f"End leads to {last}, not to {shown}")
        for what, limit in {"open": 15.0, "filter": 0.2, "step": 0.1}.items():
            expect(took[what] < limit, f"{what} takes {took[what]:.2f} s with {MANY_GOALS} goals")


if __name__ == "__main__":
    sys.exit(main())
