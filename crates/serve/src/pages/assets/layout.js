// The text of a document, as the index has it, is that of its chunks: a blank line stands for what is in none of them.
// So a byte of the text and a byte of the source are two things, and this file is where one becomes the other.

const BLANK_LINE = 2;

/// Where the chunks of a document lie in its text.
export class Layout {
  /// `start` and the chunks' ranges count bytes of the source, `length` those of the text.
  constructor(start, chunks, length) {
    const blank = pieces(start, chunks, BLANK_LINE);
    const whole = pieces(start, chunks, Infinity);
    // Where nothing is left out, the text is the source.
    this.pieces = sum(whole) === length ? whole : blank;
    this.start = start;
  }

  /// Returns the byte of the text for one of the source; for one that was left out, where the next chunk begins.
  toText(source) {
    const piece = this.pieces.findLast((one) => one.source <= source);
    if (!piece) return 0;
    const inside = source - piece.source;
    const next = this.pieces[this.pieces.indexOf(piece) + 1];
    return inside <= piece.length || !next ? piece.text + Math.min(inside, piece.length) : next.text;
  }

  /// Returns the byte of the source for one of the text.
  toSource(text) {
    const piece = this.pieces.findLast((one) => one.text <= text);
    return piece ? piece.source + Math.min(text - piece.text, piece.length) : this.start;
  }
}

/// The runs of source bytes that the text has, each with where it begins in both. `most` bytes stand for a hole.
function pieces(start, chunks, most) {
  const found = [];
  let covered = start;
  let text = 0;
  for (const chunk of chunks) {
    if (chunk.end <= covered) continue;
    const from = Math.max(chunk.start, covered);
    const last = found[found.length - 1];
    if (last && from === covered) {
      last.length += chunk.end - from;
    } else {
      if (from > covered) text += Math.min(from - covered, most);
      found.push({ source: from, text, length: chunk.end - from });
    }
    text += chunk.end - from;
    covered = chunk.end;
  }
  return found;
}

function sum(found) {
  const last = found[found.length - 1];
  return last ? last.text + last.length : 0;
}
