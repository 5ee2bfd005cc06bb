//! Indexes the Markdown files of a folder and searches them by words: no model, no network.
//!
//! `cargo run -p pericope --example index_folder -- FOLDER 'what to look for'`

use std::error::Error;
use std::path::PathBuf;

use pericope::Engine;
use pericope::index::pipeline;
use pericope::read::{ReadOptions, WalkOptions, read_path, walk};
use pericope::store::{Mode, Query, RunSummary};
use pericope::stores;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "corpora/handbook".into()));
    let question = arguments.next().unwrap_or_else(|| "how do I feed a sourdough starter".into());

    // # Cutting
    //
    // An engine makes chunkers from the same specs that `pericope index --segmenter` takes. Tokens are counted as words
    // here; with the embedding model installed, leave `with_tokenizer` out.
    let engine = Engine::new().with_tokenizer("words");
    let chunker = engine.chunker("structure:max_tokens=200")?;

    // # Indexing
    //
    // A store is a folder or a collection on a Qdrant server (`qdrant://localhost:6334/docs`).
    let place = std::env::temp_dir().join(format!("pericope-example-{}", std::process::id()));
    let place = place.display().to_string();
    let spec = engine.index_spec(&chunker, None)?;
    let mut store = stores::create(&place, &spec, true, 64 << 20)?;

    // Documents may come from anywhere; here they come from files. What cannot be read is named and passed over.
    let options = ReadOptions::default();
    let read = |path: Result<PathBuf, _>| path.and_then(|path| read_path(&path, &options));
    let documents = walk(&[folder], &WalkOptions::default()).into_iter().flat_map(|path| match read(path) {
        Ok(documents) => documents.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(problem) => vec![Err(pipeline::Failure::new("", problem.to_string()))],
    });
    let report =
        pipeline::index_documents(store.as_mut(), documents, move |document| chunker.chunks(document), |_| {})?;
    let finished = store.finish(&RunSummary::default())?;
    println!(
        "{} documents, {} chunks, {} left out",
        finished.stats.documents,
        finished.stats.chunks,
        report.failures.len()
    );

    // # Searching
    //
    // Every hit says where it stands: the document, the byte range, and the headings above it.
    for hit in stores::open(&place)?.search(&Query::new(&question, Mode::Bm25, 3))? {
        let chunk = &hit.chunk;
        println!(
            "{:.2}  {} [{}..{}]  {}",
            hit.score,
            chunk.document,
            chunk.start,
            chunk.end,
            chunk.heading_path.join(" > ")
        );
    }
    std::fs::remove_dir_all(&place)?;
    Ok(())
}
