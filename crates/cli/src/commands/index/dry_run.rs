//! `pericope index --dry-run`

use pericope_read::document_id;
use pericope_segment::Chunker;

use super::plan::Plan;
use crate::args::IndexArgs;
use crate::commands::dry_run;
use crate::input::Input;
use crate::status::Outcome;

/// Reads and cuts the files, and says what embedding the chunks comes to; nothing is embedded or written.
pub(super) fn run(args: &IndexArgs, plan: &Plan, found: &Input, chunker: &Chunker) -> Outcome {
    let (mut chunks, mut tokens) = (0, 0);
    let ours = |id: &str| args.shard.is_none_or(|shard| shard.holds(id));
    for path in found.files().iter().filter(|path| ours(&document_id(path))) {
        // What cannot be read or cut is named when it is indexed.
        found.read_in_time(path, |document| document, &mut |read| {
            for chunk in read.ok().and_then(|document| chunker.chunks(&document).ok()).into_iter().flatten() {
                chunks += 1;
                tokens += chunk.tokens;
                if plan.prefix_headings {
                    // Some four characters a token, and what joins them.
                    tokens += chunk.heading_path.iter().map(|heading| heading.len() / 4 + 2).sum::<usize>();
                }
            }
        });
    }
    let more = "These are all chunks of the files. Files that an index holds as they are cost nothing.";
    dry_run::embedding(Some(plan.embedder.as_str()), chunks, tokens, more, args.json)
}
