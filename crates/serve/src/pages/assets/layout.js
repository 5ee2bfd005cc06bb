// The text of a document, as the index has it, is that of its chunks. What is blank between them is there too; a blank
// line stands for anything else that is in no chunk. So a byte of the text and a byte of the source are two things, and
// this file is where one becomes the other.

const BLANK_LINE = 2;

/// Where the chunks of a document lie in its text.
export class Layout {
  /// `start` and the chunks' ranges count bytes of the source, `places` are those of the text.
  constructor(start, chunks, places) {
    this.start = start;
    this.pieces = pieces(start, chunks, places);
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

/// The runs of source bytes that the text has, each with where it begins in both.
function pieces(start, chunks, places) {
  const found = [];
  let covered = start;
  let text = 0;
  for (const chunk of [...chunks].sort((one, other) => one.start - other.start || one.end - other.end)) {
    if (chunk.end <= covered) continue;
    const hole = Math.max(chunk.start - covered, 0);
    const blank = places.slice(text, text + hole).trim() === "";
    const last = found[found.length - 1];
    if (last && blank) {
      last.length += chunk.end - covered;
      text += chunk.end - covered;
    } else {
      if (hole > 0) text += blank ? hole : BLANK_LINE;
      const from = covered + hole;
      found.push({ source: from, text, length: chunk.end - from });
      text += chunk.end - from;
    }
    covered = chunk.end;
  }
  return found;
}
