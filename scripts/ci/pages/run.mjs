// One run: the server, the folder of the pictures, the browser, and what all tests wait for.
import { launch } from "./browser.mjs";

export const [base, folder] = process.argv.slice(2);
export const browser = await launch();

/// Waits until the page says something.
export const said = async (page, what) => page.waitForFunction((text) => document.getElementById("said").textContent.includes(text), what);
