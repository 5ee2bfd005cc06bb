// The page of a review, worked with the keyboard: PAGE FOLDER DECISIONS.json
import { readFileSync } from "node:fs";
import { check, checks, findings, launch, look, open, tabTo, whereabouts } from "./browser.mjs";

const [address, folder, decisions] = process.argv.slice(2);
const browser = await launch();
const text = (page, selector) => page.locator(selector).first().textContent();

try {
  const page = await open(browser);
  await page.goto(address);
  const all = await page.locator("#list button").count();
  check(all === 60, `the list has ${all} questions of 60`);
  const first = await text(page, "#card h2");
  check(await page.locator("#card mark").count() === 1, "the answer is marked in its passage");
  check((await text(page, "#says")).startsWith("0 of 60 decided"), "nothing is decided at first");
  await look(page, "review", folder);

  await page.keyboard.press("j");
  const second = await text(page, "#card h2");
  check(second !== first, "j goes to the next question");
  await page.keyboard.press("k");
  check(await text(page, "#card h2") === first, "k goes back");
  await page.keyboard.press("y");
  check(await text(page, "#card h2") === second, "y keeps, and goes on");
  await page.keyboard.press("n");
  await page.keyboard.press("e");
  check(await page.evaluate(() => document.activeElement.tagName) === "TEXTAREA", "e gives a field with the focus");
  await page.keyboard.type("yne?");
  await page.keyboard.press("Escape");
  check(!(await text(page, "#card")).includes("yne?"), "Escape takes nothing over");
  await page.keyboard.press("e");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("How would a person ask this?");
  await page.keyboard.press("Enter");
  await page.keyboard.press("y");
  await page.keyboard.press("y");
  await page.keyboard.press("k");
  await page.keyboard.press("u");
  const says = await text(page, "#says");
  check(says === "4 of 60 decided: 2 kept, 1 mended, 1 dropped.", `the count says: ${says}`);
  await look(page, "review-decided", folder);

  const coming = page.waitForEvent("download");
  await page.keyboard.press("s");
  const download = await coming;
  check(download.suggestedFilename() === "decisions.json", "the file is called decisions.json");
  await download.saveAs(decisions);
  const saved = JSON.parse(readFileSync(decisions, "utf8"));
  check(saved.decisions.length === 4 && saved.decisions[2].question === "How would a person ask this?", "the file holds what was decided");

  // What was decided is still there after a reload, or comes back with the file.
  await page.reload();
  await page.locator("#load").setInputFiles(decisions);
  await page.waitForFunction(() => document.getElementById("says").textContent.startsWith("4 of 60 decided"));
  await tabTo(page, "#which");
  await page.locator("#which").selectOption("undecided");
  const left = await page.locator("#list button").count();
  check(left === 56, `${left} questions are undecided`);
  await tabTo(page, "#list button");
  await page.keyboard.press("Enter");
  await page.keyboard.press("n");
  check(await page.locator("#list button").count() === 55, "a question that is decided leaves the list of the undecided");
} catch (error) {
  check(false, `${error.stack}\nat ${await whereabouts()}`);
}
await browser.close();
console.log(`${checks()} checks of the review page, ${findings.length} failed`);
process.exit(findings.length === 0 ? 0 : 1);
