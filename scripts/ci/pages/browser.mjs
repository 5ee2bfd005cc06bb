// The browser of the page tests: what it logs is collected, keys are all that it is given, and axe looks at each page.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.PAGES_TEST_MODULES}/package.json`);
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/// Findings of the whole run.
export const findings = [];
let checked = 0;

/// Notes one check; a false one is a finding.
export function check(holds, says) {
  checked += 1;
  if (!holds) {
    findings.push(says);
    console.error(`FAILED: ${says}`);
  }
}

export const checks = () => checked;

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/// The window that was opened last.
let last = null;

/// Says what a window shows where a test stopped.
export async function whereabouts() {
  if (last === null || last.isClosed()) return "no window";
  const problem = await last.locator("#problem").textContent({ timeout: 1000 }).catch(() => "");
  return `${last.url()} ${problem}`;
}

/// Opens a window. `expected` are pieces of log lines that a test brings about on purpose.
export async function open(browser, { width = 1280, height = 900, scheme = "light", expected = [] } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  last = page;
  page.on("console", (message) => {
    const text = `${message.text()} ${message.location().url}`;
    if (message.type() === "error" && !expected.some((piece) => text.includes(piece))) {
      check(false, `${page.url()}: the console says: ${text}`);
    }
  });
  page.on("pageerror", (error) => check(false, `${page.url()}: script error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    check(false, `${page.url()}: a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.exposeFunction("violated", (what) => check(false, `${page.url()}: against the content security policy: ${what}`));
  await page.addInitScript(() => document.addEventListener("securitypolicyviolation",
    (event) => window.violated(`${event.violatedDirective} ${event.blockedURI}`)));
  return page;
}

/// Presses Tab until the focus is on an element that matches, as someone without a mouse must.
export async function tabTo(page, selector, backwards = false) {
  for (let i = 0; i < 150; i += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
    await page.keyboard.press(backwards ? "Shift+Tab" : "Tab");
  }
  throw new Error(`${page.url()}: Tab does not reach ${selector}`);
}

/// Chooses an option of the select that has the focus by typing its name. A browser forgets the letters before after a
/// second, so on a busy machine it may take several tries.
export async function choose(page, value) {
  for (let i = 0; i < 10; i += 1) {
    await page.keyboard.type(value);
    if (await page.evaluate(() => document.activeElement.value) === value) return;
    await page.waitForTimeout(1200);
  }
  throw new Error(`${page.url()}: ${value} cannot be chosen`);
}

/// Returns what has the focus, in short.
export const focused = (page) => page.evaluate(() => {
  const { tagName, id, className, textContent } = document.activeElement;
  return { tag: tagName, id, class: className, text: textContent.slice(0, 200) };
});

/// Takes a picture, and lets axe look at the page, or at what a selector names, in both themes and at both widths.
export async function look(page, name, folder, within) {
  const before = page.viewportSize();
  for (const [size, width, height] of [["wide", 1280, 900], ["narrow", 320, 640]]) {
    await page.setViewportSize({ width, height });
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await page.evaluate(() => new Promise(requestAnimationFrame));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(wide <= width, `${name} ${size}: the page is ${wide} pixels wide in a window of ${width}`);
      await axe(page, `${name} ${size} ${scheme}`, within);
      const tall = await page.evaluate(() => document.documentElement.scrollHeight);
      const clip = { x: 0, y: 0, width, height: size === "wide" ? height : Math.min(tall, 3 * height) };
      await page.screenshot({ path: `${folder}/${name}-${size}-${scheme}.png`, fullPage: true, clip });
    }
  }
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
}

async function axe(page, name, within) {
  if (!await page.evaluate(() => "axe" in window)) await page.evaluate(AXE);
  const { violations } = await page.evaluate((part) => window.axe.run(part ?? document, { resultTypes: ["violations"] }), within);
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  check(grave.length === 0, `${name}: axe: ${grave.map(({ id, nodes }) =>
    `${id} at ${nodes.map(({ target, failureSummary }) => `${target}: ${failureSummary}`).join(" | ")}`).join("; ")}`);
  for (const { id, impact, nodes } of violations) {
    if (!grave.some((one) => one.id === id)) console.log(`${name}: axe: ${impact}: ${id} at ${nodes[0].target}`);
  }
}
