// The tests of the document page, and of the modules under it.
import { check, choose, look, open, tabTo } from "./browser.mjs";
import { base, browser, folder, said } from "./run.mjs";

const chunks = (page, side) => page.locator(`#column-${side} .chunk`);

/// Waits until a side shows another number of chunks, and returns it.
async function changed(page, side, before) {
  await page.waitForFunction(([id, old]) => {
    const now = document.querySelectorAll(`#column-${id} .chunk`).length;
    return now > 0 && now !== old;
  }, [side, before]);
  return chunks(page, side).count();
}

export async function documents() {
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
  // By letters: on the way to `sentence` lies `same-size`, whose reference may read with a model that is not here.
  await choose(page, "paragraph");
  await page.waitForSelector("#column-b .chunk");
  check(await page.locator("#column-b").isVisible() && await page.locator("#column-a").isVisible(), "document: two segmenters stand side by side");
  await page.waitForFunction(() => /cuts? in both/.test(document.querySelector("#column-a .facts").textContent));
  await tabTo(page, "#gaps");
  await page.keyboard.press("Space");
  check(await page.locator("#column-a .gap").count() > 5, "document: the scores of all gaps show");
  await look(page, "document", folder);
  const query = new URL(page.url()).searchParams;
  check(query.get("a") === "texttiling" && query.get("b") === "paragraph" && query.get("gaps") === "1", "document: the choice stands in the address");

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

/// A segmenter whose name alone is no spec is asked for with the settings of the server's list.
export async function incompleteNames() {
  // The reference in the list reads with a model, which may be missing here.
  const page = await open(browser, { expected: ["/v1/segment"] });
  const { segmenters } = await (await fetch(`${base}/v1/segmenters`)).json();
  const { spec } = segmenters.find((one) => one.spec.startsWith("same-size:"));
  const asksFor = () => page.waitForRequest((request) => request.url().endsWith("/v1/segment") && request.postDataJSON().segmenter.startsWith("same-size"));
  const address = `${base}/document?id=backing-up-personal-data.md`;
  const [first] = await Promise.all([asksFor(), page.goto(`${address}&a=same-size`)]);
  check(first.postDataJSON().segmenter === spec, `names: an address leads to ${first.postDataJSON().segmenter}, and the server lists ${spec}`);

  await page.goto(address);
  await page.waitForSelector("#column-a .chunk");
  await tabTo(page, "#a-segmenter");
  const [second] = await Promise.all([asksFor(), choose(page, "same-size")]);
  check(second.postDataJSON().segmenter === spec, `names: the choice leads to ${second.postDataJSON().segmenter}, and the server lists ${spec}`);
  check(await page.locator("#a-settings").inputValue() === spec.slice("same-size:".length), "names: the settings show what is asked");
  await tabTo(page, "#a-settings");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("reference=paragraph");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#column-a h2")?.textContent === "same-size:reference=paragraph");
  await tabTo(page, "#a-segmenter", true);
  await choose(page, "paragraph");
  await page.waitForFunction(() => document.querySelector("#column-a h2")?.textContent === "paragraph");
  check(await page.locator("#a-settings").inputValue() === "", "names: a complete name needs no settings");
  await page.context().close();
}

/// A long document, in an index of its own: the choice of the index, the parts, and two columns that stay together.
export async function longDocument() {
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

/// Bytes of UTF-8 become units of UTF-16, and bytes of a text those of its source, as the modules of the pages do it.
export async function offsets() {
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
