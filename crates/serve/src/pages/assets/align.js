// Keeps two columns of the same text at the same place. Chunks have lines of their own between the text, so the columns
// would drift apart, the further down the more.

/// Returns the first chunk of a column for which `test` holds; it holds for all that follow.
function first(column, test) {
  const nodes = column.querySelectorAll(".chunk");
  let low = 0;
  let high = nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(nodes[middle])) high = middle;
    else low = middle + 1;
  }
  return nodes[low] ?? null;
}

/// Returns the byte of the text at a height of the window, or null above the first chunk and below the last. Within a
/// chunk it is as far as one can tell without measuring every line.
export function byteAt(column, y) {
  const node = first(column, (one) => one.getBoundingClientRect().bottom > y);
  if (!node) return null;
  const { top, height } = node.getBoundingClientRect();
  if (top > y) return null;
  const [start, end] = [Number(node.dataset.start), Number(node.dataset.end)];
  return start + (end - start) * (y - top) / height;
}

/// Returns the height at which a byte stands, or null where the column does not have it.
export function heightOf(column, byte) {
  const node = first(column, (one) => Number(one.dataset.end) > byte);
  if (!node) return null;
  const { top, height } = node.getBoundingClientRect();
  const [start, end] = [Number(node.dataset.start), Number(node.dataset.end)];
  return top + height * Math.max(0, byte - start) / (end - start);
}

/// Moves the chunks of `follower` so that both columns show the same text at a height of the window.
export function align(leader, follower, y) {
  const list = follower.querySelector(".cut");
  if (!list) return;
  const byte = follower.offsetTop === leader.offsetTop ? byteAt(leader, y) : null;
  const height = byte === null ? null : heightOf(follower, byte);
  const now = Number.parseFloat(list.style.marginTop) || 0;
  list.style.marginTop = height === null ? "" : `${now + y - height}px`;
}
