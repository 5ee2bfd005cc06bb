use pericope_api::{Document, Kind, SegmentError, Segmentation, Segmenter};

use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry};

pub(crate) const STRUCTURE: SegmenterEntry = SegmenterEntry {
    name: "structure",
    summary: "sections under their headings; where a limit asks for more cuts, lower headings first, then blocks",
    keys: &[],
    example: "structure:max_tokens=256,min_tokens=64",
    needs: Needs::None,
    needs_of: None,
    has_scores: true,
    build: |_, _| Ok(BuiltSegmenter::new(Structure)),
};

/// Scores the gap before a heading by its rank (0.95 for level 1, 0.05 less for every level below), the end of any
/// other block 0.3, and a gap inside a block 0.02. With the threshold of 0.5, every section is a segment.
///
/// The setting `tau` moves the line: above 0.85 only headings of levels 1 and 2 cut, below 0.3 every block does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Structure;

const BLOCK: f64 = 0.3;
const INSIDE: f64 = 0.02;

fn before_heading(level: u8) -> f64 {
    1.0 - 0.05 * f64::from(level.clamp(1, 6))
}

impl Segmenter for Structure {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let pairs = document.sentences.iter().zip(document.sentences.iter().skip(1));
        let scores = pairs.map(|(a, b)| match b.kind {
            Kind::Heading(level) => before_heading(level),
            _ if a.paragraph != b.paragraph => BLOCK,
            _ => INSIDE,
        });
        Ok(Segmentation::Scores { scores: scores.collect(), threshold: 0.5 })
    }
}
