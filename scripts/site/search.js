// Pericope's search box on a site without a server: its question is answered here, by BM25 over the chunks that
// `pericope segment` cut when the site was built (search.json). The box is the one that `pericope serve` hands out.
(() => {
const K1 = 1.2, B = 0.75;
const home = new URL(typeof path_to_root === "string" && path_to_root ? path_to_root : "./", location.href);
const words = (text) => text.toLowerCase().normalize("NFKD").match(/[\p{L}\p{N}]+/gu) || [];
let loading;

// Chunks by word. A heading counts as often as a word that stands twice.
const load = async () => {
  const { pages, chunks } = await (await network(new URL("search.json", home))).json();
  const postings = new Map(), lengths = new Float64Array(chunks.length);
  chunks.forEach(([, path, , text], at) => {
    const heading = path.join(" "), all = [...words(heading), ...words(heading), ...words(text)];
    lengths[at] = all.length;
    for (const word of all) {
      if (!postings.has(word)) postings.set(word, new Map());
      const counts = postings.get(word);
      counts.set(at, (counts.get(at) || 0) + 1);
    }
  });
  const mean = lengths.reduce((sum, one) => sum + one, 0) / Math.max(chunks.length, 1);
  return { pages, chunks, postings, lengths, mean, vocabulary: [...postings.keys()].sort() };
};

// The word that is still being typed stands for all that begin with it, at most so many.
const BEGUN = 30;
const begun = (index, word) => {
  let low = 0, high = index.vocabulary.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (index.vocabulary[middle] < word) low = middle + 1; else high = middle;
  }
  const found = [];
  while (found.length < BEGUN && index.vocabulary[low]?.startsWith(word)) found.push(index.vocabulary[low++]);
  return found;
};

const search = (index, question, k) => {
  const asked = words(question), scores = new Map();
  asked.forEach((word, place) => {
    const typing = place === asked.length - 1 && /[\p{L}\p{N}]$/u.test(question);
    const best = new Map();
    for (const form of typing && word.length > 1 ? begun(index, word) : [word]) {
      const counts = index.postings.get(form);
      if (!counts) continue;
      const idf = Math.log(1 + (index.chunks.length - counts.size + 0.5) / (counts.size + 0.5));
      const weight = form === word ? 1 : 0.6;
      for (const [at, count] of counts) {
        const long = K1 * (1 - B + (B * index.lengths[at]) / index.mean);
        const score = (weight * idf * count * (K1 + 1)) / (count + long);
        best.set(at, Math.max(best.get(at) || 0, score));
      }
    }
    for (const [at, score] of best) scores.set(at, (scores.get(at) || 0) + score);
  });
  return [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, k);
};

// Where the asked words stand, in bytes, as the service says it.
const marks = (text, question) => {
  const asked = words(question).filter((word) => word.length > 2), encoder = new TextEncoder(), found = [];
  if (!asked.length) return found;
  for (const one of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const plain = words(one[0])[0];
    if (!plain || !asked.some((word, at) => plain === word || (at === asked.length - 1 && plain.startsWith(word)))) continue;
    const start = encoder.encode(text.slice(0, one.index)).length;
    found.push([start, start + encoder.encode(one[0]).length]);
    if (found.length === 3) break;
  }
  return found;
};

const answer = async (address) => {
  loading ??= load();
  loading.catch(() => (loading = undefined));
  const index = await loading, question = address.searchParams.get("q") || "";
  const hits = search(index, question, Number(address.searchParams.get("k")) || 8).map(([at, score], rank) => {
    const [page, heading_path, anchor, text] = index.chunks[at];
    const { url, title } = index.pages[page];
    return {
      rank: rank + 1, score, document: url, id: anchor, title, text, highlights: marks(text, question),
      heading_path: heading_path.length ? heading_path : [title], url: new URL(url + (anchor ? "#" + anchor : ""), home).href,
    };
  });
  return new Response(JSON.stringify({ query: question, mode: "bm25", hits }), { headers: { "Content-Type": "application/json" } });
};

const network = window.fetch.bind(window), asks = new URL("v1/search", home);
window.fetch = (resource, options) => {
  const address = new URL(resource.url || resource, location.href);
  return address.origin === asks.origin && address.pathname === asks.pathname ? answer(address) : network(resource, options);
};

const bar = document.querySelector("#mdbook-menu-bar, #menu-bar");
if (bar) {
  const box = document.createElement("pericope-search");
  box.setAttribute("src", home.href);
  box.setAttribute("label", "Search the documentation");
  bar.insertBefore(box, bar.querySelector(".right-buttons"));
}
})();
