// The site of the documentation: ADDRESS FOLDER
import { check, checks, findings, launch, open, whereabouts } from "./browser.mjs";
import { playground } from "./playground.mjs";

const [address, folder] = process.argv.slice(2);
const browser = await launch();

// The box is a custom element: its parts are in a shadow root, which locators see through.
const options = (page) => page.locator("pericope-search li");

async function ask(page, words) {
  await page.locator("pericope-search input").fill("");
  await page.waitForFunction(() => !document.querySelector("pericope-search").shadowRoot.querySelector("[role=status]").textContent);
  await page.locator("pericope-search input").fill(words);
  // An empty field clears what the box says, and an answer says how many hits there are.
  await page.waitForFunction(() => /hits$/.test(document.querySelector("pericope-search").shadowRoot.querySelector("[role=status]").textContent));
}

try {
  const page = await open(browser);
  await page.goto(address);
  check((await page.title()).includes("Pericope"), "the front page is README");
  check(await page.locator("nav#mdbook-sidebar, nav#sidebar").count() === 1, "there is a list of pages");
  await page.screenshot({ path: `${folder}/front.png` });

  // "/" and words lead to a passage, its place included, on a page in another folder.
  await page.keyboard.press("/");
  await page.keyboard.type("when does a fall count");
  await page.waitForFunction(() => document.querySelector("pericope-search").shadowRoot.querySelector("li"));
  const first = await options(page).first().textContent();
  check(first.startsWith("When a fall counts"), `the first hit says: ${first}`);
  check(await page.locator("pericope-search mark").count() > 0, "the words are marked");
  await page.screenshot({ path: `${folder}/search.png` });
  await page.keyboard.press("Enter");
  await page.waitForURL(/docs\/nightly\.html#when-a-fall-counts$/);
  await page.screenshot({ path: `${folder}/page.png` });

  // From there, the addresses of hits still begin at the site.
  await ask(page, "pairwi");
  check(await options(page).count() > 0, "a word that is still being typed is found");
  await ask(page, "zzzz qqqq");
  check(await options(page).count() === 0, "nothing is found for words that stand nowhere");
  await ask(page, "<img src=x onerror=alert(1)>");
  await ask(page, "qdrant://");
  await page.locator("pericope-search input").press("ArrowDown");
  await page.locator("pericope-search input").press("Enter");
  await page.waitForLoadState();
  check(page.url().startsWith(address), `a hit leads to ${page.url()}`);

  // Every page opens without an error, and no page is wider than a telephone.
  const { pages } = await (await fetch(new URL("search.json", address))).json();
  await page.setViewportSize({ width: 375, height: 700 });
  for (const { url } of pages) {
    const answer = await page.goto(new URL(url, address).href);
    check(answer.ok(), `${url} is there`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= 375, `${url} is ${wide} pixels wide in a window of 375`);
  }
  // The playground is there where it could be built.
  const cuts = pages.find(({ url }) => url === "playground.html");
  if (cuts) await playground(browser, new URL(cuts.url, address).href, folder);
  await page.goto(address);
  await page.screenshot({ path: `${folder}/narrow.png` });
  const dark = await open(browser, { scheme: "dark" });
  await dark.goto(new URL(pages.find(({ url }) => url.includes("segmentation")).url, address).href);
  await dark.screenshot({ path: `${folder}/dark.png` });
} catch (error) {
  check(false, `${error.stack}\nat ${await whereabouts()}`);
}
await browser.close();
console.log(`${checks()} checks of the site, ${findings.length} failed`);
process.exit(findings.length === 0 ? 0 : 1);
