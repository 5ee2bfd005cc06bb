// The half of pages-test that works the browser, with the keyboard alone:
//     node test.mjs ADDRESS FOLDER
// ADDRESS is that of a server on the handbook and one hostile document, FOLDER takes the pictures.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { check, checks, findings, focused, look, open, tabTo, whereabouts } from "./browser.mjs";
import { documents, incompleteNames, longDocument, offsets } from "./documents.mjs";
import { base, browser, folder, said } from "./run.mjs";

const hits = (page) => page.locator("#results a.open");
const marks = (page) => page.locator("#results mark").allTextContents();

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

for (const part of [offsets, searching, staleAnswers, hostile, documents, incompleteNames, longDocument, comparing, status, keyed, searchBox]) {
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
