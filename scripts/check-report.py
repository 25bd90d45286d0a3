#!/usr/bin/env python3
"""Opens Quarry's reports in headless Chromium and validates the files for other tools.

Method: reports are generated for an example, for a function with a crash that sanitizers also find, for def-use pairs of which one
cannot be covered, for goals that are called infeasible, for several functions and, with goals multiplied to 5,000, for large runs.
Playwright drives Debian's Chromium: no message on the console, every view by address and by key, filters, MC/DC tables, arcs,
both colour schemes, wide and narrow. genhtml reads lcov.info, xmllint checks XML against scripts/schemas/, SARIF is validated by its own
JSON schema, which the crate serde-sarif contains, goals.jsonl by docs/schemas/. Playwright, jsonschema and the schema are kept in the cache. Limit: what a page looks like is for people to
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
PAIRS = ["--function", "power", "--criterion", "def-use,branch", "--strategy", "cpgs", "--per-goal", "1s"]
SIZES = {"wide": (1440, 900), "narrow": (400, 860)}
MANY_GOALS = 5000
SEVERAL = ["examples/triangle.c", "fixtures/branch/date.c", "fixtures/branch/tokenizer.c", "fixtures/branch/bubble.c"]
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
        triangle = generate(options.quarry, work / "triangle", "examples/triangle.c", "--criterion", "branch,mcdc,statement", "--confirm")
        crashing = generate(options.quarry, work / "crashing", "fixtures/memory/off_by_one.c", "--confirm")
        several = generate(options.quarry, work / "several", "fixtures/memory/off_by_one.c", *SEVERAL, "--confirm")
        power = generate(options.quarry, work / "power", str(power_source(work)), *PAIRS)
        gate = generate(options.quarry, work / "gate", "fixtures/mcdc/constants.c", "--function", "gate", "--criterion", "mcdc", "--no-prove")
        proved = with_proofs(options.quarry, gate, work / "proved")
        for run in (triangle, crashing, several, power, proved):
            check_formats(run)
        large = multiplied(options.quarry, triangle, work / "large")
        many_pairs = multiplied(options.quarry, power, work / "many-pairs")
        from playwright.sync_api import sync_playwright
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            for name, run in {"triangle": triangle, "crashing": crashing}.items():
                look_at_every_view(browser, run, name, VIEWS, options.shots)
            look_at_every_view(browser, power, "power", [*VIEWS, "pair", "source/0/10", "source/0/18/" + str(open_pair(power)["id"])], options.shots)
            check_keys_and_filters(browser, triangle)
            check_mcdc_table(browser, triangle)
            check_finding(browser, crashing)
            check_several(browser, several, options.shots)
            look_at_every_view(browser, proved, "proved", VIEWS, options.shots)
            check_infeasible(browser, proved)
            check_pairs(browser, power)
            check_arcs(browser, power)
            check_large(browser, large, "goal")
            check_large(browser, many_pairs, "pair")
            check_many_arcs(browser, many_pairs)
            browser.close()
    print("check-report: 7 reports, all well")
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
    # counted, not timed: a busy machine writes the same report
    run([str(quarry), "gen", source, "--budget", "600s", "--max-executions", "2000", "--quiet", "-o", str(out), *arguments])
    return out


def power_source(work: pathlib.Path) -> pathlib.Path:
    """The example of def-use pairs without what stands above it: the fixture counts its lines from the function on."""
    text = (ROOT / "fixtures/dataflow/power.c").read_text().split("#line 1\n")[1]
    source = work / "power.c"
    source.write_text(text.replace("double power", "void abort(void); double power", 1))
    return source


def goals_of(directory: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in (directory / "goals.jsonl").read_text().splitlines()]


def open_pair(directory: pathlib.Path) -> dict:
    """The one pair that no test covers."""
    found = [goal for goal in goals_of(directory) if goal["criterion"] == "def-use" and goal["state"] == "undecided"]
    expect(len(found) == 1, f"{len(found)} pairs are undecided, not 1")
    return found[0]


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
    check_goals(directory)


def check_goals(directory: pathlib.Path) -> None:
    """Every line of goals.jsonl by the schema that users get, with no field that it does not name."""
    import jsonschema
    schema = json.loads((ROOT / "docs/schemas/goal.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(dict(schema, additionalProperties=False))
    files = sorted(directory.rglob("goals.jsonl"))
    expect(bool(files), f"{directory} has no goals.jsonl")
    for file in files:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            wrong = next(validator.iter_errors(json.loads(line)), None)
            expect(wrong is None, f"{file}:{number}: {wrong and wrong.message}")


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
    goals = goals_of(original)
    # when there are pairs, nothing else
    goals = [goal for goal in goals if "definition" in goal] or goals
    lines = []
    for index in range(MANY_GOALS):
        goal = dict(goals[index % len(goals)], id=index)
        goal.pop("reason", None)
        goal.update(state="covered", test="tests/test_001.json")
        if index % 7 == 0:
            goal.pop("test")
            goal.update(state="undecided", reason="the budget ended first")
        lines.append(json.dumps(goal))
    (directory / "goals.jsonl").write_text("\n".join(lines) + "\n")
    run([str(quarry), "report", str(directory)])
    return directory


def with_proofs(quarry: pathlib.Path, original: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """The same run with every undecided goal called infeasible, the first of them within limits only."""
    shutil.copytree(original, directory)
    goals = goals_of(original)
    undecided = [goal for goal in goals if goal["state"] == "undecided"]
    expect(len(undecided) > 1, f"{len(undecided)} goals of {original} are undecided")
    for goal in undecided:
        goal.pop("reason")
        goal.update(state="infeasible", evidence={"proof": f"proofs/goal{goal['id']}.proof"})
    undecided[0]["evidence"]["under"] = ["arrays have at most 64 elements"]
    place = {name: undecided[-1][name] for name in ("file", "line", "column")}
    undecided[-1]["evidence"]["invariants"] = [{**place, "holds": ["limit <= 7", "limit != 3"]}]
    (directory / "goals.jsonl").write_text("".join(json.dumps(goal) + "\n" for goal in goals))
    record = json.loads((directory / "run.json").read_text())
    counts = {"infeasible": len(undecided) - 1, "infeasible_bounded": 1, "undecided": 0}
    record["result"]["goals"].update(counts)
    record["result"]["per_criterion"]["mcdc"].update(counts)
    record["result"]["stop"] = "complete"
    (directory / "run.json").write_text(json.dumps(record))
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


def look_at_every_view(browser, directory: pathlib.Path, name: str, views: list[str], shots: pathlib.Path | None) -> None:
    for scheme in ("light", "dark"):
        for size in SIZES:
            with Page(browser, directory, scheme, size) as page:
                for address in views:
                    view = address.split("/")[0]
                    page.evaluate("address => { location.hash = address; }", address)
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
                        page.screenshot(path=shots / f"{name}-{address.replace('/', '-')}-{size}-{scheme}.png")
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


def check_infeasible(browser, directory: pathlib.Path) -> None:
    """Goals with proofs have a badge, a filter, their evidence, a cell in MC/DC tables and a sign beside the source."""
    goals = goals_of(directory)
    infeasible = [goal for goal in goals if goal["state"] == "infeasible"]
    covered, bounded = sum(goal["state"] == "covered" for goal in goals), infeasible[0]
    with Page(browser, directory) as page:
        head = page.locator("#sum").inner_text()
        expected = f"{covered} of {len(goals) - len(infeasible) + 1} goals covered, {len(infeasible) - 1} more infeasible"
        expect(head == expected, f"the page says {head!r}, not {expected!r}")
        pills = page.locator(".pill.infeasible").all_inner_texts()
        expect(pills == [f"{len(infeasible) - 1} infeasible", "1 infeasible under assumptions"], f"the badges are {pills}")
        expect("every goal is covered or infeasible" in page.locator(".hero .lead").inner_text(), "the end is not told")
        page.evaluate("location.hash = 'goal'")
        page.select_option("[data-filter='any state']", "infeasible")
        count = page.locator(".goal-view .count").inner_text()
        expect(count.startswith(f"{len(infeasible)} of "), f"the filter shows {count}")
        page.evaluate("hash => { location.hash = hash; }", f"goal/{bounded['id']}")
        page.wait_for_selector(f".detail h3:has-text('goal{bounded['id']}')")
        facts = page.locator(".detail .facts").inner_text()
        expect(bounded["evidence"]["proof"] in facts and "at most 64 elements" in facts, f"the evidence is not told: {facts}")
        decisions = json.loads((directory / "coverage/facts.json").read_text())["decisions"]
        cells = 0
        for number in range(len(decisions)):
            page.evaluate("hash => { location.hash = hash; }", f"decision/{number}")
            page.wait_for_selector(f".detail .expression:has-text({json.dumps(decisions[number]['text'])})")
            cells += page.locator(".conditions .sign.infeasible").count()
        asked = sum("decides" in goal["demand"] for goal in infeasible)
        expect(cells == asked, f"{cells} cells of MC/DC tables say infeasible, not {asked}")
        page.evaluate("hash => { location.hash = hash; }", f"source/0/{infeasible[-1]['line']}")
        page.wait_for_selector(f"#line-{infeasible[-1]['line']}.infeasible .flag .sign.infeasible")
        told = page.locator(".detail").inner_text()
        expect(infeasible[-1]["evidence"]["proof"] in told, f"the line does not tell of the proof: {told}")
        expect("limit <= 7 and limit != 3" in told, f"the line does not tell of the invariant: {told}")
        page.evaluate("hash => { location.hash = hash; }", f"goal/{infeasible[-1]['id']}")
        page.wait_for_selector(f".detail h3:has-text('goal{infeasible[-1]['id']}')")
        facts = page.locator(".detail .facts").inner_text()
        expect("is reached, limit <= 7 and limit != 3" in facts, f"the argument is not told: {facts}")


def check_finding(browser, directory: pathlib.Path) -> None:
    with Page(browser, directory) as page:
        page.keyboard.press("6")
        page.wait_for_selector("body[data-view=finding] [role=option]")
        text = page.locator(".detail").inner_text()
        for part in ("out-of-bounds", "off_by_one.c:", "quarry replay"):
            expect(part in text, f"the finding does not tell '{part}'")
        page.locator("[role=option]", has_text="sanitizer").first.click()
        text = page.locator(".detail").inner_text()
        for part in ("out-of-bounds-index", "off_by_one.c:", "shown by", "./reproduce"):
            expect(part in text, f"what the sanitizer found does not tell '{part}'")
        page.keyboard.press("1")
        page.wait_for_selector("#confirmed")


def check_several(browser, directory: pathlib.Path, shots: pathlib.Path | None) -> None:
    """The page for all functions, and the way from there to each."""
    for scheme in ("light", "dark"):
        for size in SIZES:
            with Page(browser, directory, scheme, size) as page:
                overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                expect(overflow <= 0, f"the page of all functions is wider than a {size} screen by {overflow} pixels")
                expect("llvm-cov counts" in page.locator("main").inner_text(), "the page does not tell what llvm-cov says")
                if shots:
                    page.screenshot(path=shots / f"several-{size}-{scheme}.png", full_page=True)
    with Page(browser, directory) as page:
        page.get_by_role("link", name="triangle", exact=True).click()
        page.wait_for_selector("body[data-view=overview] main > *")


def check_pairs(browser, directory: pathlib.Path) -> None:
    """The table of def-use pairs: what it tells, its filters, and the way by keys to the arc of one."""
    listed = [goal for goal in goals_of(directory) if goal["criterion"] == "def-use"]
    undecided = open_pair(directory)
    with Page(browser, directory) as page:
        page.keyboard.press("7")
        page.wait_for_selector("body[data-view=pair] [role=option]")
        expect(page.locator(".count").inner_text() == f"{len(listed)} pairs", "the pairs are not counted")
        heads = page.locator(".heads").inner_text().split("\n")
        expect(heads == ["variable", "definition", "use", "kind", "test or reason", "spent"], f"the table has the heads {heads}")
        left = [page.locator(f"{row} >> .end").nth(1).bounding_box()["x"] for row in (".heads", "[role=option] >> nth=0")]
        expect(left[0] == left[1], f"the head of a column is at {left[0]}, the column at {left[1]}")
        page.keyboard.press("n")
        row = page.locator("[role=option][aria-selected=true]").inner_text()
        for part in ("res", "8:9", "18:12", "c-use", undecided["reason"]):
            expect(part in row, f"the row of the undecided pair does not tell '{part}': {row}")
        spent = f"{undecided['search']['executions']} execution"
        expect(spent in page.locator(".detail").inner_text(), f"the pair does not tell '{spent}'")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        page.wait_for_selector("body[data-view=source] .line[aria-selected=true]")
        expect(drawn(page) == [undecided["id"]], f"the arcs of {drawn(page)} are drawn, not that of goal{undecided['id']}")
        page.keyboard.press("7")
        page.wait_for_selector("body[data-view=pair] [role=option]")
        page.locator("select[data-filter='any variable']").select_option("exp")
        page.locator("select[data-filter='any use']").select_option("p-use")
        n_shown = sum(pair["variable"] == "exp" and pair["use"] == "p-use" for pair in listed)
        expect(page.locator(".count").inner_text() == f"{n_shown} of {len(listed)} pairs", "the filters show other pairs")


def drawn(page) -> list[int]:
    """The pairs that have an arc."""
    return sorted(int(one) for one in page.eval_on_selector_all(".arc[data-pair]", "arcs => arcs.map((arc) => arc.dataset.pair)"))


def check_arcs(browser, directory: pathlib.Path) -> None:
    """Arcs are those of the line, or of the variable chosen; they begin and end at its lines, and are broken by state."""
    listed = [goal for goal in goals_of(directory) if goal["criterion"] == "def-use"]
    ids = lambda wanted: sorted(pair["id"] for pair in listed if wanted(pair))
    with Page(browser, directory) as page:
        page.evaluate("() => { location.hash = 'source/0/8'; }")
        page.wait_for_selector(".arc[data-pair]")
        expect(drawn(page) == ids(lambda pair: 8 in (pair["line"], pair["definition"]["line"])), f"line 8 has the arcs {drawn(page)}")
        page.keyboard.press("v")
        expect(drawn(page) == ids(lambda pair: pair["variable"] == "res"), f"res has the arcs {drawn(page)}")
        for pair in (pair for pair in listed if pair["variable"] == "res"):
            arc = page.locator(f".arc[data-pair='{pair['id']}']")
            for end, line in (("circle", pair["definition"]["line"]), (".head", pair["line"])):
                box, row = arc.locator(end).bounding_box(), page.locator(f"#line-{line}").bounding_box()
                middle = box["y"] + box["height"] / 2
                expect(row["y"] < middle < row["y"] + row["height"], f"goal{pair['id']}: {end} is not on line {line}")
            dashes = arc.locator(".way").evaluate("way => getComputedStyle(way).strokeDasharray")
            expect((dashes == "none") == (pair["state"] == "covered"), f"goal{pair['id']} is {pair['state']} and has the dashes {dashes}")
        page.keyboard.press("v")
        page.keyboard.press("ArrowDown")
        expect(drawn(page) == ids(lambda pair: 9 in (pair["line"], pair["definition"]["line"])), f"line 9 has the arcs {drawn(page)}")
        page.locator(".detail a[href^='#pair/']").first.focus()
        expect(page.locator(".arc.lit").count() == 1, "the pair with the focus is not lit")
    with Page(browser, directory.parent / "triangle") as page:
        page.evaluate("() => { location.hash = 'source'; }")
        page.wait_for_selector("body[data-view=source] .line")
        expect(not page.locator(".margin").first.is_visible(), "there is a margin for arcs without pairs")
        expect(page.locator("nav a[data-view=pair]").count() == 0, "there is a view of pairs without pairs")


def check_many_arcs(browser, directory: pathlib.Path) -> None:
    """Of very many arcs those are drawn that can be told apart, and the others are counted."""
    with Page(browser, directory) as page:
        page.evaluate("() => { location.hash = 'source/0/10'; }")
        page.wait_for_selector(".arc[data-pair]")
        n_drawn, n_asked = len(drawn(page)), sum(10 in (pair["line"], pair["definition"]["line"]) for pair in goals_of(directory))
        expect(0 < n_drawn < 40, f"{n_drawn} arcs are drawn at once")
        told = page.locator(".tools .count").inner_text()
        expect(told == f"{n_asked - n_drawn:,} more do not fit", f"{n_drawn} of {n_asked} arcs are drawn, and '{told}'")
        print(f"check-report: {MANY_GOALS} pairs as arcs: a step {page.evaluate(STEP, 5):.3f} s")


def check_large(browser, directory: pathlib.Path, view: str) -> None:
    """Many goals: the page has few of them as elements, whatever is shown; how long that takes is printed."""
    with Page(browser, directory) as page:
        started = time.monotonic()
        page.goto("about:blank")
        page.goto(f"file://{directory / 'report/index.html'}#{view}")
        page.wait_for_selector("[role=option]")
        took = {"open": time.monotonic() - started}
        n_rows = page.locator("[role=option]").count()
        expect(n_rows < 100, f"{n_rows} rows are elements at once")
        # measured within the page: the way there takes as long as the machine is busy
        took["filter"] = page.evaluate(FILTER, "undecided")
        shown = int(page.locator(".count").inner_text().split()[0].replace(",", ""))
        expect(shown == (MANY_GOALS + 6) // 7, f"the filter shows {shown} {view}s")
        took["step"] = page.evaluate(STEP, 50)
        page.focus("[role=listbox]")
        page.keyboard.press("End")
        last = page.locator("[role=option][aria-selected=true]").get_attribute("aria-posinset")
        expect(last == str(shown), f"End leads to {last}, not to {shown}")
        n_rows = page.locator("[role=option]").count()
        expect(n_rows < 100, f"{n_rows} rows are elements at once at the end of the list")
        times = ", ".join(f"{what} {seconds:.3f} s" for what, seconds in took.items())
        print(f"check-report: {MANY_GOALS} {view}s: {times}")


if __name__ == "__main__":
    sys.exit(main())
