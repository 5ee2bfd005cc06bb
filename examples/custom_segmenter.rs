//! A segmenter of one's own: boundaries where a sentence begins with a word that turns the page.
//!
//! `cargo run -p pericope --example custom_segmenter`

use std::error::Error;
use std::sync::Arc;

use pericope::api::{Document, SegmentError, Segmentation, Segmenter};
use pericope::segment::Chunker;
use pericope::segment::counters::WordCounter;
use pericope::segment::policy::SizePolicy;

/// Scores the gap before a sentence by its first word.
struct TurningWords;

impl Segmenter for TurningWords {
    // One score for each gap between two sentences, 0..=1, and the threshold above which a gap is a boundary. The size
    // policy works on these scores: it is told nothing else about the segmenter.
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let turns = |i: usize| {
            let first = document.sentence(i).split_whitespace().next().unwrap_or_default().to_lowercase();
            ["later", "meanwhile", "finally", "however,"].contains(&first.as_str())
        };
        let scores = (1..document.len()).map(|i| if turns(i) { 0.9 } else { 0.1 }).collect();
        Ok(Segmentation::Scores { scores, threshold: 0.5 })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let document = Document::from_sentences(
        "tale.txt",
        &["The miller wakes.", "The wheel turns.", "Later the rain comes.", "The river rises.", "Finally it stops."],
    );

    // # Chunks
    //
    // A chunker joins a segmenter, a size policy and a token counter. No chunk is longer than the policy allows, whatever
    // the segmenter says.
    let policy = SizePolicy { max_tokens: Some(8), ..SizePolicy::default() };
    let chunker = Chunker::new(Box::new(TurningWords), policy, Arc::new(WordCounter));
    let chunks = chunker.chunks(&document)?;
    for chunk in &chunks {
        println!("{:>2} words  {}", chunk.tokens, document.text(chunk.span));
    }

    assert!(chunks.iter().all(|chunk| chunk.tokens <= 8));
    assert_eq!(document.text(chunks[0].span), "The miller wakes. The wheel turns.");
    Ok(())
}
