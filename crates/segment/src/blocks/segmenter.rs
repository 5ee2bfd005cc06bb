use std::sync::Arc;

use pericope_api::{Document, SegmentError, Segmentation, Segmenter, Span, TokenCounter, TokenMap};

use super::cut::around;
use crate::Resources;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

pub(crate) const COGLTX_BLOCKS: SegmenterEntry = SegmenterEntry {
    name: "cogltx-blocks",
    summary: "blocks of at most a number of tokens, cut where it costs least: at lines, then sentences, then commas",
    keys: &[SettingKey { name: "tokens", default: "63", doc: "most tokens a block, special tokens not counted" }],
    example: "cogltx-blocks:tokens=63",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let tokens = args.count("tokens", 63, 1)?;
    let counter = resources.counter().map_err(|reason| args.unavailable(reason))?;
    Ok(BuiltSegmenter::new(Blocks::new(tokens, counter)))
}

/// [`blocks`](super::blocks()) of a document (Ding et al. 2020). Code blocks and tables that fit the limit are kept whole.
pub struct Blocks {
    tokens: usize,
    counter: Arc<dyn TokenCounter>,
}

impl Blocks {
    /// At most `tokens` tokens a block (0 counts as 1), special tokens not counted.
    #[must_use]
    pub fn new(tokens: usize, counter: Arc<dyn TokenCounter>) -> Self {
        Self { tokens: tokens.max(1), counter }
    }
}

impl Segmenter for Blocks {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let (source, counter) = (document.source.as_ref(), self.counter.as_ref());
        let tokens = TokenMap::new(source, counter);
        let atomic = document.sentences.iter().filter(|sentence| sentence.kind.is_atomic()).map(|one| one.span);
        let whole: Vec<Span> = atomic.filter(|&span| tokens.count(span) <= self.tokens).collect();
        Ok(Segmentation::Spans(around(source, &tokens, counter, self.tokens, &whole)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Document, Kind, Segmentation, Segmenter};

    use super::Blocks;
    use crate::counters::WordCounter;

    #[test]
    fn code_that_fits_is_not_cut() {
        let mut document = Document::from_sentences("d", &["One two three.", "let a\nlet b\nlet c", "Four five six."]);
        document.sentences[1].kind = Kind::Code;
        let texts = |tokens: usize| {
            let found = Blocks::new(tokens, Arc::new(WordCounter)).segment(&document).unwrap();
            let Segmentation::Spans(spans) = found else { unreachable!() };
            spans.iter().map(|span| document.text(*span).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(6), ["One two three.", "let a\nlet b\nlet c", "Four five six."]);
        // What does not fit is cut at its lines.
        assert_eq!(texts(4), ["One two three.", "let a", "let b\nlet c", "Four five six."]);
    }
}
