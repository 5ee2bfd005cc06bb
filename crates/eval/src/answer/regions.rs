use std::collections::BTreeMap;

use pericope_api::{Document, Span};

use super::Context;

/// Retrieved text of one document without a gap.
pub(super) struct Region {
    pub(super) document: usize,
    pub(super) span: Span,
    /// The contexts that it is made of, in the order of the text, each with its rank.
    pub(super) parts: Vec<(Span, usize)>,
}

/// Contexts of one document that touch or overlap are one region; each byte keeps the best rank that brought it. In the order of
/// documents and text.
pub(super) fn regions(documents: &[Document], contexts: &[Context]) -> Vec<Region> {
    let mut by_document: BTreeMap<usize, Vec<(Span, usize)>> = BTreeMap::new();
    for (rank, context) in contexts.iter().enumerate() {
        if context.document < documents.len() {
            by_document.entry(context.document).or_default().push((context.span, rank));
        }
    }
    let mut regions: Vec<Region> = Vec::new();
    for (document, mut spans) in by_document {
        spans.sort_by_key(|(span, rank)| (*span, *rank));
        let source = &documents[document].source;
        let mut open: Option<Region> = None;
        for (span, rank) in spans {
            if let Some(region) = &mut open {
                let between = source.get(region.span.end..span.start).unwrap_or("");
                if between.trim().is_empty() {
                    region.span = region.span.hull(&span);
                    region.parts.push((span, rank));
                    continue;
                }
            }
            regions.extend(open.replace(Region { document, span, parts: vec![(span, rank)] }));
        }
        regions.extend(open);
    }
    regions
}
