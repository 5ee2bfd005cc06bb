// The playground of the site: texts cut in the browser.
import { check, look, open, tabTo } from "./browser.mjs";

const TEXT = `# Keys 🔑

Keys expire after a year. Rotate them before that.	東京の鍵。

- one key
- another key

## Lost keys

Revoke a lost key at once. Then make a new one. <b>Nobody</b> finds it.

`;

/// What the page shows once the last question is answered.
async function shown(page, says) {
  await page.waitForFunction((wanted) => document.querySelector("#pg-said").textContent.includes(wanted)
    && !document.querySelector("#pg-cut").hasAttribute("aria-busy"), says);
  return page.evaluate(() => {
    const cut = document.querySelector("#pg-cut");
    const chunks = [...cut.querySelectorAll(".pg-chunk")].map((chunk) => ({ text: chunk.textContent, facts: chunk.dataset.facts }));
    const gaps = [...cut.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent);
    const rows = [...document.querySelectorAll("#pg-rows tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
    const colours = [...cut.querySelectorAll(".pg-chunk")].map((chunk) => getComputedStyle(chunk).backgroundColor);
    return { whole: cut.textContent, chunks, gaps, rows, colours };
  });
}

/// Chunks and the blanks between them are the text, and their sizes are said.
function sound(name, { whole, chunks, gaps, rows, colours }) {
  check(whole === TEXT, `playground: ${name}: chunks and gaps are ${JSON.stringify(whole)}`);
  check(gaps.every((gap) => gap.trim() === ""), `playground: ${name}: only blanks have no colour: ${JSON.stringify(gaps)}`);
  check(rows.length === chunks.length, `playground: ${name}: ${rows.length} rows for ${chunks.length} chunks`);
  check(colours.every((colour, at) => at === 0 || colour !== colours[at - 1]), `playground: ${name}: neighbours differ: ${colours}`);
  const encoder = new TextEncoder();
  chunks.forEach(({ text, facts }, at) => {
    const [characters, bytes] = [[...text].length, encoder.encode(text).length];
    check(facts.includes(` ${characters} character`) && facts.includes(` ${bytes} byte`), `playground: ${name}: ${facts} for ${JSON.stringify(text)}`);
    check(rows[at][2] === String(characters) && rows[at][3] === String(bytes), `playground: ${name}: the table says ${rows[at]}`);
  });
}

export async function playground(browser, address, folder) {
  const page = await open(browser);
  await page.goto(address);
  // It begins with a text of its own.
  const first = await shown(page, "by structure:max_tokens=100");
  check(first.whole.startsWith("# ") && first.chunks.length > 3, `playground: the sample has ${first.chunks.length} chunks`);
  check(first.whole === await page.locator("#pg-text").inputValue(), "playground: the sample comes back whole");
  await look(page, "playground", folder, "#pg");

  await page.locator("#pg-text").fill(TEXT);
  await page.locator("#pg-max").fill("0");
  const headings = await shown(page, "by structure:max_tokens=0");
  sound("structure", headings);
  check(headings.rows.at(-1)[6] === "Keys 🔑 > Lost keys", `playground: the last chunk stands under ${headings.rows.at(-1)[6]}`);

  await page.locator("#pg-segmenter").selectOption("sentence");
  const sentences = await shown(page, "by sentence:max_tokens=0");
  sound("sentence", sentences);
  check(sentences.chunks.length > headings.chunks.length, `playground: ${sentences.chunks.length} sentences`);
  check(sentences.chunks.some(({ text }) => text === "東京の鍵。"), "playground: a sentence is a chunk");

  await page.locator("#pg-max").fill("4");
  const small = await shown(page, "by sentence:max_tokens=4");
  sound("sentence of 4 tokens", small);
  check(small.rows.every((row) => Number(row[1]) <= 4), `playground: no chunk exceeds the limit: ${small.rows.map((row) => row[1])}`);

  // The format decides what is one sentence.
  await page.locator("#pg-format").selectOption("plain");
  await page.locator("#pg-max").fill("0");
  sound("plain", await shown(page, "by sentence:max_tokens=0"));

  // Arrow keys move the cursor in a field, and do not turn the page.
  await tabTo(page, "#pg-spec");
  await page.keyboard.press("ArrowRight");
  check(page.url() === address, "playground: an arrow key stays on the page");
  await page.locator("#pg-spec").fill("paragraf");
  await page.waitForFunction(() => document.querySelector("#pg-problem").textContent.includes("did you mean `paragraph`?"));
  await page.locator("#pg-spec").fill("fixed:words=5");
  sound("fixed", await shown(page, "by fixed:max_tokens=0,words=5"));
  check(await page.locator("#pg-problem").textContent() === "", "playground: a spec that is right again has no problem");

  // Thai has its dictionary, Chinese and Japanese have none here.
  await page.locator("#pg-text").fill("全文检索 サーバーを ก่อนสร้าง");
  await page.locator("#pg-spec").fill("fixed:words=1");
  const words = await shown(page, "8 chunks of 1 sentence by fixed:max_tokens=0,words=1");
  check(words.chunks.map(({ text }) => text).join("|") === "全|文|检|索|サーバー|を|ก่อน|สร้าง", `playground: words are ${words.chunks.map(({ text }) => text)}`);
  await page.close();
}
