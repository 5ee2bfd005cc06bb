// Runs Pericope beside the page, which ends this worker when a newer question is there.
let ready;

const read = (pericope, bytes) =>
  JSON.parse(new TextDecoder().decode(new Uint8Array(pericope.memory.buffer, pericope.pericope_answer(), bytes)));

function cut(pericope, request) {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = pericope.pericope_room(bytes.length);
  new Uint8Array(pericope.memory.buffer, at, bytes.length).set(bytes);
  return read(pericope, pericope.pericope_cut());
}

self.onmessage = async ({ data: { module, request } }) => {
  if (module) {
    ready = WebAssembly.instantiate(module, {}).then(({ exports }) => exports);
    return;
  }
  try {
    const pericope = await ready;
    self.postMessage(request ? cut(pericope, request) : read(pericope, pericope.pericope_offer()));
  } catch (error) {
    // What has stopped once is in no state to go on.
    self.postMessage({ error: `Pericope has stopped: ${error.message}`, stopped: true });
  }
};
