// The half of pages-test that works the browser, with the keyboard alone:
//     node test.mjs ADDRESS FOLDER
// ADDRESS is that of a server on the handbook and one hostile document, FOLDER takes the pictures.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { check, checks, choose, findings, focused, launch, look, open, tabTo, whereabouts } from "./browser.mjs";

const [base, folder] = process.argv.slice(2);
const browser = await launch();
const hits = (page) => page.locator("#results a.open");
const marks = (page) => page.locator("#results mark").allTextContents();
const chunks = (page, side) => page.locator(`#column-${side} .chunk`);
const said = async (page, what) => page.waitForFunction((text) => document.getElementById("said").textContent.includes(text), what);

/// Waits until a side shows another number of chunks, and returns it.
async function changed(page, side, before) {
  await page.waitForFunction(([id, old]) => {
    const now = document.querySelectorAll(`#column-${id} .chunk`).length;
    return now > 0 && now !== old;
  }, [side, before]);
  return chunks(page, side).count();
}

async function searching() {
  const page = await open(browser);
  await page.goto(`${base}/`);
  check((await focused(page)).id === "q", "search: the field has the focus at first");
  await said(page, "passages of");
  await page.keyboard.type("restore a backup");
  await said(page, "hits in");
  check((await marks(page)).some((text) => /backup/i.test(text)), "search: the words are marked");
  check(new URL(page.url()).searchParams.get("q") === "restore a backup", "search: the query stands in the address");
  await look(page, "search", folder);

  const ranks = await hits(page).count();
  check(ranks > 3, `search: ${ranks} hits are shown`);
  await page.keyboard.press("ArrowDown");
  check((await focused(page)).class === "open", "search: the down key goes to the first hit");
  await page.keyboard.press("End");
  check(await hits(page).last().evaluate((node) => node === document.activeElement), "search: End goes to the last hit");
  await page.keyboard.press("Escape");
  check((await focused(page)).id === "q", "search: Esc goes back to the field");
  await tabTo(page, "#filters summary");
  await page.keyboard.press("/");
  check((await focused(page)).id === "q", "search: / goes to the field");

  await tabTo(page, "#filters summary");
  await page.keyboard.press("Enter");
  await tabTo(page, "#path");
  await page.keyboard.type("running-");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => [...document.querySelectorAll("#results .group h2 a")].every((link) => link.href.includes("id=running-")));
  check(await hits(page).count() > 0, "search: the filter leaves hits");
  check(page.url().includes("path=running-"), "search: the filter stands in the address");
  await look(page, "filters", folder);
  await tabTo(page, ".filter[data-name=path] .chips button");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("#results .group").length > 1);
  check(!page.url().includes("path="), "search: the filter is taken away again");

  await page.goto(`${base}/?q=${encodeURIComponent("zzzzqqq")}`);
  await said(page, "No hits");
  await page.keyboard.press("Escape");
  await said(page, "passages of");
  await page.keyboard.type("restore a backup");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.className === "open");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/document\?/);
  await page.waitForSelector("#column-a .chunk.target");
  const shown = await page.evaluate(() => {
    const target = document.querySelector(".chunk.target");
    const { top } = target.getBoundingClientRect();
    return { own: target === document.activeElement, inside: top >= 0 && top < innerHeight, text: target.textContent };
  });
  check(shown.own && shown.inside && /backup/i.test(shown.text), "search: the hit opens at its passage in the document");
  await page.goBack();
  check(page.url().includes("?q=restore"), "search: the way back leads to the same search");
  await said(page, "hits in");
  await page.context().close();
}

/// An older answer that comes later must not replace a newer one.
async function staleAnswers() {
  const page = await open(browser);
  await page.route(/v1\/search/, async (route) => {
    const q = new URL(route.request().url()).searchParams.get("q");
    if (q === "bees") await new Promise((done) => setTimeout(done, 700));
    await route.continue().catch(() => {});
  });
  await page.goto(`${base}/`);
  await said(page, "passages of");
  await page.keyboard.type("bees");
  await page.waitForRequest(/q=bees/);
  await page.keyboard.press("Control+A");
  await page.keyboard.type("sourdough");
  await page.waitForFunction(() => document.querySelector("#results h2")?.textContent.includes("Sourdough"));
  await page.waitForTimeout(900);
  check(await page.locator("#results h2").first().textContent() === "Sourdough Bread at Home", "search: a late answer is dropped");
  await page.context().close();
}

/// Markup in names, titles and texts is text; highlights fit letters of more than one byte and one unit.
async function hostile() {
  const page = await open(browser);
  await page.goto(`${base}/?q=${encodeURIComponent("naïve <b>unicorns</b>")}`);
  await said(page, "hit");
  const group = page.locator("#results .group").first();
  check((await group.locator("h2").textContent()).includes("<script>alert(1)</script>"), "hostile: the title is text");
  check((await group.locator(".where").textContent()).includes("<img src=x onerror=alert(1)>.md"), "hostile: the name is text");
  const found = await marks(page);
  check(found.includes("naïve") && found.some((text) => text.startsWith("unicorn")), `hostile: marks fit the words: ${found}`);
  check(await page.evaluate(() => document.querySelectorAll("main img, main script, #results b").length) === 0, "hostile: nothing became an element");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#column-a .chunk.target");
  check((await page.locator("#title").textContent()).includes("<script>"), "hostile: the title of the document is text");
  check((await page.locator(".chunk.target").textContent()).includes("<b onclick"), "hostile: the passage is text");
  await page.context().close();
}

async function documents() {
  const page = await open(browser);
  await page.goto(`${base}/document`);
  await tabTo(page, "#id");
  await page.keyboard.type("backing-up-personal-data.md");
  await page.keyboard.press("Enter");
  await page.waitForURL(/id=backing-up/);
  await page.waitForSelector("#column-a .chunk");
  let number = await chunks(page, "a").count();
  await tabTo(page, "#a-segmenter");
  await choose(page, "texttiling");
  number = await changed(page, "a", number);
  check(await page.locator("#column-a .boundary").count() === number - 1, "document: every boundary has a line");
  check((await page.locator("#column-a .boundary").allTextContents()).some((text) => /score \d\.\d\d/.test(text)), "document: boundaries say their scores");

  await tabTo(page, "#a-threshold");
  await page.keyboard.press("Home");
  number = await changed(page, "a", number);
  const most = number;
  check(page.url().includes("ta=0"), "document: the threshold stands in the address");
  await page.keyboard.press("End");
  number = await changed(page, "a", number);
  check(number < most, `document: a higher threshold gives fewer chunks: ${most}, ${number}`);
  await tabTo(page, "#max");
  await page.keyboard.press("Home");
  const small = await changed(page, "a", number);
  check(small > number, `document: a smaller limit gives more chunks: ${number}, ${small}`);
  check((await page.locator("#max").getAttribute("aria-valuetext")) === "32 tokens", "document: the limit says its value");
  for (let i = 0; i < 6; i += 1) await page.keyboard.press("ArrowRight");
  await changed(page, "a", small);
  await tabTo(page, "#knobs [data-side=a] button", true);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("[data-side=a] output").textContent.includes("its own"));

  await tabTo(page, "#b-segmenter");
  await choose(page, "sentence");
  await page.waitForSelector("#column-b .chunk");
  check(await page.locator("#column-b").isVisible() && await page.locator("#column-a").isVisible(), "document: two segmenters stand side by side");
  await page.waitForFunction(() => /cuts? in both/.test(document.querySelector("#column-a .facts").textContent));
  await tabTo(page, "#gaps");
  await page.keyboard.press("Space");
  check(await page.locator("#column-a .gap").count() > 5, "document: the scores of all gaps show");
  await look(page, "document", folder);
  const query = new URL(page.url()).searchParams;
  check(query.get("a") === "texttiling" && query.get("b") === "sentence" && query.get("gaps") === "1", "document: the choice stands in the address");

  await page.goto(`${base}/document`);
  await tabTo(page, "#text");
  await page.keyboard.insertText("# Tea\n\nWarm the pot. Add tea 🍵 leaves. Pour.\n\n# Coffee\n\nGrind the beans. Press <b>down</b>.\n");
  await tabTo(page, "#own button");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#column-a .chunk");
  const text = await page.locator("#column-a").textContent();
  check(text.includes("tea 🍵 leaves") && text.includes("<b>down</b>"), "document: a text of one's own is cut");
  check(!page.url().includes("Tea"), "document: a text of one's own is not in the address");
  await look(page, "own-text", folder);
  await page.context().close();
}

/// A long document, in an index of its own: the choice of the index, the parts, and two columns that stay together.
async function longDocument() {
  const page = await open(browser);
  await page.goto(`${base}/`);
  await said(page, "passages of 29 documents");
  await tabTo(page, "#index");
  await choose(page, "long");
  await tabTo(page, "#q", true);
  await page.keyboard.type("repeater");
  await said(page, "in 1 document");
  check(page.url().includes("index=long"), "long: the index stands in the address");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.className === "open");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#column-a .chunk.target");
  check(/repeater/i.test(await page.locator(".chunk.target").textContent()), "long: the passage is in the part that shows");
  const part = await page.locator("#parts span").textContent();
  check(/^Part [2-9] of [2-9]$/.test(part), `long: it shows in parts: ${part}`);
  await tabTo(page, "#b-segmenter", true);
  await choose(page, "fixed");
  await page.waitForSelector("#column-b .chunk");
  await tabTo(page, "#max");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelectorAll("#column-b .chunk").length > 600);
  await page.evaluate(() => window.scrollTo({ top: document.body.scrollHeight / 3, behavior: "instant" }));
  // The chunks at one height of the window end near each other in the text; without alignment they drift far apart.
  await page.waitForFunction(() => {
    const [left, right] = ["a", "b"].map((side) => {
      const nodes = [...document.querySelectorAll(`#column-${side} .chunk`)];
      return Number(nodes.find((one) => one.getBoundingClientRect().bottom > 400)?.dataset.end);
    });
    return Math.abs(left - right) < 2000;
  });
  await tabTo(page, "#parts button", true);
  await page.keyboard.press("Enter");
  await page.waitForFunction((old) => document.querySelector("#parts span").textContent !== old, part);
  await page.waitForSelector("#column-a .chunk");
  await page.context().close();
}

async function comparing() {
  const page = await open(browser);
  await page.goto(`${base}/compare`);
  await page.waitForSelector("#boxes input");
  await tabTo(page, "#question");
  await page.keyboard.type("What does the 3-2-1 backup rule mean?");
  await tabTo(page, "#spec");
  await page.keyboard.type("fixed:words=60");
  await page.keyboard.press("Enter");
  await tabTo(page, "#question", true);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#results .column .hit");
  const columns = await page.locator("#results .column h2").allTextContents();
  check(columns.length >= 3 && columns.some((name) => name.startsWith("fixed:")), `compare: the segmenters stand beside each other: ${columns}`);
  check(await page.locator("#results mark").count() > 0, "compare: the words are marked");
  check(new URL(page.url()).searchParams.getAll("s").includes("fixed:words=60"), "compare: the segmenters stand in the address");
  await look(page, "compare", folder);
  await tabTo(page, "#results .hit a");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#column-a .chunk.target");
  check(new URL(page.url()).searchParams.has("a"), "compare: a passage opens in its document, cut by its segmenter");
  await page.context().close();
}

async function status() {
  const page = await open(browser);
  await page.goto(`${base}/status`);
  await page.waitForSelector(".card");
  const text = await page.locator(".card").first().textContent();
  check(/Documents/.test(text) && /Chunks/.test(text) && /Segmenter/.test(text), `status: the index is described: ${text}`);
  await look(page, "status", folder);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Tab");
  check((await focused(page)).class === "skip", "status: the first Tab is the way past the navigation");
  await page.keyboard.press("Enter");
  check((await focused(page)).id === "main", "status: the skip link goes to the content");
  await tabTo(page, "#theme");
  await page.keyboard.press("Enter");
  check(await page.evaluate(() => getComputedStyle(document.body).backgroundColor) === "rgb(21, 24, 28)", "status: the button makes it dark");
  await page.reload();
  check(await page.evaluate(() => document.documentElement.dataset.theme) === "dark", "status: the theme is kept");
  for (const path of ["metrics", "docs", "openapi.json", "healthz", "readyz"]) {
    check((await page.request.get(`${base}/${path}`)).ok(), `status: /${path}, to which it links, is there`);
  }
  await page.context().close();
}

/// A server that asks for a key, as far as the pages see it.
async function keyed() {
  const page = await open(browser, { expected: ["401"] });
  await page.route(/\/v1\//, (route) => route.request().headers().authorization === "Bearer right"
    ? route.continue()
    : route.fulfill({ status: 401, contentType: "application/problem+json", body: '{"title":"No key","status":401}' }));
  await page.goto(`${base}/`);
  await page.waitForSelector("#key-form:not([hidden])");
  check((await focused(page)).id === "key", "key: the field for the key has the focus");
  await look(page, "key", folder);
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("key-why").textContent.includes("does not accept"));
  await page.keyboard.type("right");
  await page.keyboard.press("Enter");
  await said(page, "passages of");
  check(await page.locator("#key-form").isHidden(), "key: the field goes away");
  check(await page.evaluate(() => document.cookie === "" && localStorage.length === 0), "key: the key lasts for this tab alone");
  await tabTo(page, "#forget");
  await page.keyboard.press("Enter");
  check(await page.evaluate(() => sessionStorage.length) === 0, "key: the key is forgotten");
  await page.context().close();
}

/// The search box on a page of another origin, under the strictest policy that can hold it.
async function searchBox() {
  const example = readFileSync(new URL("../../../examples/searchbox.html", import.meta.url), "utf8").replaceAll("http://127.0.0.1:7700", base);
  const site = createServer((_, response) => response.setHeader("Content-Type", "text/html; charset=utf-8").end(example));
  await new Promise((done) => site.listen(Number(process.env.SITE_PORT), "127.0.0.1", done));
  const page = await open(browser);
  await page.goto(`http://127.0.0.1:${site.address().port}/`);
  await page.keyboard.press("/");
  check((await focused(page)).tag === "PERICOPE-SEARCH", "box: / goes to the field");
  await page.keyboard.type("restore a backup");
  await page.waitForSelector("pericope-search li");
  const box = page.locator("pericope-search");
  check(await box.locator("mark").count() > 0, "box: the words are marked");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  check(await box.locator("li").nth(1).getAttribute("aria-selected") === "true", "box: the arrow keys choose");
  check(await box.locator("input").getAttribute("aria-activedescendant") === "o1", "box: the choice is told to screen readers");
  await look(page, "box", folder);
  await page.keyboard.press("Escape");
  check(await box.locator("li").count() === 0, "box: Esc closes the list");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("naïve unicorns");
  await page.waitForFunction(() => document.querySelector("pericope-search").shadowRoot.querySelector("small")?.textContent.includes("unicorns"));
  const found = await box.locator("li").first().locator("mark").allTextContents();
  check(found.includes("naïve"), `box: marks fit the words: ${found}`);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${base}/document?**`);
  await page.waitForSelector(".chunk.target");
  await page.context().close();
  site.close();
}

/// Bytes of UTF-8 become units of UTF-16, and bytes of a text those of its source, as the modules of the pages do it.
async function offsets() {
  const page = await open(browser);
  await page.goto(`${base}/status`);
  const wrong = await page.evaluate(async () => {
    const { Places, placeOf } = await import(new URL("assets/bytes.js", document.baseURI));
    const { Layout } = await import(new URL("assets/layout.js", document.baseURI));
    const { withSetting, withoutSetting } = await import(new URL("assets/spec.js", document.baseURI));
    const found = [];
    const expect = (is, wanted, what) => { if (is !== wanted) found.push(`${what}: ${is}, not ${wanted}`); };
    const letters = ["a", "é", "€", "🍵", "\n", "z"];
    let seed = 7;
    const draw = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
    for (let round = 0; round < 20; round += 1) {
      const text = Array.from({ length: draw(1500) }, () => letters[draw(6)]).join("");
      const places = new Places(text);
      let byte = 0;
      let unit = 0;
      for (const letter of text) {
        expect(places.at(byte), unit, `place ${byte} of text ${round}`);
        byte += new TextEncoder().encode(letter).length;
        unit += letter.length;
      }
      expect(places.length, byte, "length");
      expect(places.at(byte + 9), text.length, "place past the end");
    }
    expect(placeOf("tea", "tea and tea", [[8, 11]]).join(), "8,11", "the snippet with the mark");
    // The source is "AA\n\nBB<!-- -->CC DD": blank text is kept, the comment is a blank line, the last two overlap.
    const text = "AA\n\nBB\n\nCC DD";
    const layout = new Layout(10, [{ start: 10, end: 12 }, { start: 14, end: 16 }, { start: 24, end: 26 }, { start: 24, end: 29 }], new Places(text));
    for (const [source, at] of [[10, 0], [12, 2], [14, 4], [15, 5], [20, 8], [24, 8], [28, 12]]) {
      expect(layout.toText(source), at, `text of byte ${source}`);
      if (source !== 20) expect(layout.toSource(at), source, `source of byte ${at}`);
    }
    expect(withSetting("same-size:reference=(window:k=5,tau=1)", "tau", 0.3), "same-size:reference=(window:k=5,tau=1),tau=0.3", "spec");
    expect(withSetting("c99", "tau", 0.3), "c99:tau=0.3", "spec");
    expect(withSetting("c99:tau=0.1,c=2", "tau", 0.3), "c99:c=2,tau=0.3", "spec");
    expect(withoutSetting("structure:max_tokens=256", "max_tokens"), "structure", "spec");
    return found.slice(0, 5);
  });
  check(wrong.length === 0, `offsets: ${wrong.join("; ")}`);
  await page.context().close();
}

for (const part of [offsets, searching, staleAnswers, hostile, documents, longDocument, comparing, status, keyed, searchBox]) {
  const before = Date.now();
  try {
    await part();
  } catch (error) {
    check(false, `${part.name}: ${error.stack}\n    at ${await whereabouts()}`);
  }
  console.log(`${part.name}: ${((Date.now() - before) / 1000).toFixed(1)} s`);
}
await browser.close();
console.log(`pages-test: ${checks()} checks, ${findings.length} failed; pictures in ${folder}`);
process.exit(findings.length ? 1 : 0);
