// Asks `pericope mcp` with the official TypeScript SDK: every tool, wrong arguments, a cancelled call, ten clients at once.
//
//     client.mjs stdio PROGRAM FOLDER      starts PROGRAM mcp in FOLDER
//     client.mjs http URL [KEY]
//
// SDK: the folder with node_modules.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.SDK}/index.js`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)));
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');

const tools = ['fetch', 'list', 'read', 'search', 'status'];
const question = 'how do I feed a sourdough starter';
let checks = 0;

function check(holds, what) {
  checks += 1;
  if (!holds) {
    console.error('does not hold:', JSON.stringify(what));
    process.exit(1);
  }
}

async function connect([kind, place, more]) {
  const client = new Client({ name: 'check', version: '1' });
  const headers = more ? { Authorization: `Bearer ${more}` } : {};
  const transport = kind === 'stdio'
    ? new StdioClientTransport({ command: place, args: ['mcp'], cwd: more })
    : new StreamableHTTPClientTransport(new URL(place), { requestInit: { headers } });
  await client.connect(transport);
  return client;
}

const words = (result) => result.content.map((part) => part.text).join('');

async function ask(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  check(!result.isError && words(result).trim(), [name, args, result]);
  return result.structuredContent;
}

async function everyTool(client) {
  check(client.getServerVersion().name === 'pericope', client.getServerVersion());
  // The client validates structured content against the schemas that it has listed.
  const listed = (await client.listTools()).tools;
  check(JSON.stringify(listed.map((tool) => tool.name).sort()) === JSON.stringify(tools), listed);
  check(listed.every((tool) => tool.annotations.readOnlyHint && tool.outputSchema && tool.description.length > 40), listed);
  const { hits } = await ask(client, 'search', { query: question, k: 3 });
  const [hit] = hits;
  check(hits.length === 3 && hit.lines.length === 2 && hit.text.includes(hit.snippet), hits);
  const passage = await ask(client, 'fetch', { id: hit.id });
  check(passage.text.includes(hit.text), passage);
  const part = await ask(client, 'read', { document: hit.document, lines: hit.lines.join('-') });
  check(part.text.includes(hit.text.trim()) && part.lines.join() === hit.lines.join(), part);
  const list = await ask(client, 'list', { prefix: hit.document });
  check(list.documents.some((document) => document.id === hit.document), list);
  const status = await ask(client, 'status');
  check(status.indexes[0].passages > 0, status);
}

async function wrongArguments(client) {
  for (const [name, args, says] of [
    ['search', {}, 'query'],
    ['search', { query: question, k: 'many' }, 'k: '],
    ['search', { query: question, limit: 3 }, 'limit'],
    ['fetch', { id: 'nowhere' }, 'nowhere'],
    ['read', { document: 'nowhere.md' }, 'nowhere.md'],
  ]) {
    const result = await client.callTool({ name, arguments: args });
    check(result.isError && words(result).includes(says), [name, args, result]);
  }
  const refused = await client.callTool({ name: 'remove', arguments: {} }).then(() => null, (error) => error);
  check(refused && refused.message.includes('remove'), 'a tool that is none is refused');
}

async function cancelled(client) {
  for (let i = 0; i < 10; i += 1) {
    const control = new AbortController();
    const call = client.callTool(
      { name: 'search', arguments: { query: 'a call that nobody waits for', k: 100 } }, undefined, { signal: control.signal });
    control.abort('nobody waits');
    const outcome = await call.then(() => 'answered', () => 'cancelled');
    check(outcome === 'cancelled', outcome);
  }
  await ask(client, 'search', { query: question });
}

const args = process.argv.slice(2);
const client = await connect(args);
await everyTool(client);
await wrongArguments(client);
await cancelled(client);
await client.close();
const answers = await Promise.all(Array.from({ length: 10 }, async () => {
  const one = await connect(args);
  const found = [];
  for (let i = 0; i < 10; i += 1) {
    found.push((await ask(one, 'search', { query: question })).hits.map((hit) => hit.id).join());
  }
  await one.close();
  return found;
}));
check(new Set(answers.flat()).size === 1 && answers.flat()[0], 'ten at once agree');
console.log(`typescript, ${args[0]}: ${checks} checks hold`);
