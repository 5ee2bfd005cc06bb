// The half of screenshot-report that speaks to the browser (Chrome DevTools Protocol):
//     node screenshot-report.mjs PORT PAGE FOLDER
// Beside the pictures it reports what the browser logged, and fails where the page scrolls sideways or asks for
// anything but itself.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [port, page, folder] = process.argv.slice(2);
const target = await (await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: "PUT" })).json();
const socket = new WebSocket(target.webSocketDebuggerUrl);
await new Promise((done, failed) => { socket.onopen = done; socket.onerror = failed; });

let last = 0;
const waiting = new Map();
const listeners = [];
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.id) {
    const { done, failed } = waiting.get(message.id);
    waiting.delete(message.id);
    message.error ? failed(new Error(message.error.message)) : done(message.result);
  } else {
    listeners.forEach((listener) => listener(message));
  }
};
const send = (method, params = {}) => new Promise((done, failed) => {
  waiting.set(++last, { done, failed });
  socket.send(JSON.stringify({ id: last, method, params }));
});
const event = (method) => new Promise((done) => {
  const listener = (message) => {
    if (message.method !== method) return;
    listeners.splice(listeners.indexOf(listener), 1);
    done(message.params);
  };
  listeners.push(listener);
});

let bad = 0;
const url = pathToFileURL(page).href;
listeners.push(({ method, params }) => {
  if (method === "Log.entryAdded") { bad += 1; console.error(`browser: ${params.entry.text}`); }
  if (method === "Runtime.exceptionThrown") { bad += 1; console.error(`script: ${params.exceptionDetails.exception?.description}`); }
  if (method === "Network.requestWillBeSent" && params.request.url.split("#")[0] !== url) {
    bad += 1;
    console.error(`asks for ${params.request.url}`);
  }
});
for (const domain of ["Page", "Log", "Runtime", "Network"]) await send(`${domain}.enable`);

for (const [size, width, height] of [["wide", 1280, 900], ["narrow", 390, 844]]) {
  for (const scheme of ["light", "dark"]) {
    await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: size === "narrow" });
    await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    const loaded = event("Page.loadEventFired");
    await send("Page.navigate", { url });
    await loaded;
    const { cssContentSize } = await send("Page.getLayoutMetrics");
    if (cssContentSize.width > width) {
      bad += 1;
      console.error(`${size}: the page is ${cssContentSize.width} pixels wide in a window of ${width}`);
    }
    const clip = { x: 0, y: 0, width, height: Math.min(cssContentSize.height, 16000), scale: 1 };
    const { data } = await send("Page.captureScreenshot", { format: "png", clip, captureBeyondViewport: true });
    const file = `${folder}/${size}-${scheme}.png`;
    writeFileSync(file, Buffer.from(data, "base64"));
    console.log(`${file}  ${width} x ${Math.round(clip.height)}`);
  }
}
socket.close();
process.exit(bad ? 1 : 0);
