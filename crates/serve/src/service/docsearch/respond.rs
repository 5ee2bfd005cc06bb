use std::collections::BTreeMap;
use std::time::Instant;

use pericope::api::Span;
use pericope::store::{Highlighter, Hit};

use super::{
    DocsearchAnswer, DocsearchHit, DocsearchQuery, DocsearchRequest, DocsearchResults, MOST_HITS, Marked, MarkedHit,
};
use crate::service::requests::within;
use crate::service::slot::Slot;
use crate::service::{Problem, Service};

/// Levels of a hierarchy: lvl0 to lvl6.
const LEVELS: usize = 7;

impl Service {
    /// Answers one query of a widget. An empty query has no hits.
    ///
    /// # Errors
    /// As [`Service::search`].
    pub fn docsearch(&self, request: &DocsearchQuery) -> Result<DocsearchAnswer, Problem> {
        let begun = Instant::now();
        within("hitsPerPage", request.hits_per_page, 1, MOST_HITS)?;
        let known = request.index.as_deref().filter(|name| self.names().any(|known| known == *name));
        let slot = self.slot(known)?;
        let index = slot.named.name.as_str();
        let first = request.page.saturating_mul(request.hits_per_page);
        let last = first.saturating_add(request.hits_per_page).min(MOST_HITS);
        let mut answer = DocsearchAnswer {
            hits: Vec::new(),
            nb_hits: 0,
            page: request.page,
            nb_pages: 0,
            hits_per_page: request.hits_per_page,
            exhaustive_nb_hits: false,
            query: request.query.clone(),
            params: "",
            index: index.to_owned(),
            processing_time_ms: 0,
        };
        if !request.query.trim().is_empty() {
            slot.ask(|slot| self.fill(&mut answer, slot, request, (first, last)))?;
        }
        answer.processing_time_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(answer)
    }

    /// Puts a page of hits into an answer.
    fn fill(
        &self,
        answer: &mut DocsearchAnswer,
        slot: &Slot,
        request: &DocsearchQuery,
        (first, last): (usize, usize),
    ) -> Result<(), Problem> {
        let opened = slot.current();
        // One page more says whether there is one.
        let depth = last.saturating_add(request.hits_per_page).min(MOST_HITS);
        let (query, _) = self.query(&opened, &request.query, request.mode, depth)?;
        let found = opened.retriever.search(&query)?;
        answer.nb_hits = found.len();
        answer.nb_pages = found.len().div_ceil(request.hits_per_page);
        let highlighter = opened.retriever.highlighter(&request.query)?;
        let page = found.into_iter().skip(first).take(last.saturating_sub(first));
        let index = slot.named.name.as_str();
        answer.hits = page.map(|hit| self.docsearch_hit(index, hit, &highlighter, &request.tags)).collect();
        Ok(())
    }

    /// Answers several queries.
    ///
    /// # Errors
    /// As [`Service::docsearch`].
    pub fn docsearch_all(&self, request: &DocsearchRequest) -> Result<DocsearchResults, Problem> {
        let results = request.queries.iter().map(|query| self.docsearch(query)).collect::<Result<_, _>>()?;
        Ok(DocsearchResults { results })
    }

    fn docsearch_hit(&self, index: &str, hit: Hit, highlighter: &Highlighter, tags: &(String, String)) -> DocsearchHit {
        let chunk = &hit.chunk;
        let headings = chunk.heading_path.iter().map(|heading| heading.as_str());
        let page = chunk.title.as_deref().unwrap_or(&chunk.document);
        let mut levels: Vec<Option<String>> =
            std::iter::once(page).chain(headings).map(|l| Some(l.to_owned())).collect();
        if levels.len() == 1 {
            // Widgets show lvl1 above a text.
            levels.push(levels.first().cloned().flatten());
        }
        levels.resize(LEVELS, None);
        let named = |(n, level): (usize, &Option<String>)| (format!("lvl{n}"), level.clone());
        let hierarchy: BTreeMap<String, Option<String>> = levels.iter().enumerate().map(named).collect();
        let marked = |(name, level): (&String, &Option<String>)| {
            let level = level.as_deref()?;
            Some((
                name.clone(),
                mark(level, Span::new(0, level.len()), &highlighter.mark(level, chunk.language).1, tags),
            ))
        };
        let headings: BTreeMap<String, Marked> = hierarchy.iter().filter_map(marked).collect();
        let whole = Span::new(0, chunk.text.len());
        let url = self.addresses.address(index, &chunk.document, chunk.anchor.as_deref());
        DocsearchHit {
            object_id: hit.id,
            url,
            url_without_anchor: self.addresses.address(index, &chunk.document, None),
            anchor: chunk.anchor.clone(),
            kind: "content",
            highlight_result: MarkedHit {
                hierarchy: headings.clone(),
                content: mark(&chunk.text, whole, &hit.highlights, tags),
            },
            snippet_result: MarkedHit {
                hierarchy: headings,
                content: mark(&chunk.text, hit.snippet, &hit.highlights, tags),
            },
            hierarchy,
            content: hit.chunk.text,
        }
    }
}

/// A part of a text as HTML, with marks around some places of it.
fn mark(text: &str, part: Span, places: &[Span], (pre, post): &(String, String)) -> Marked {
    let mut value = String::new();
    let mut at = part.start;
    for place in places.iter().filter(|place| part.contains(place)) {
        escape(Span::new(at, place.start).of(text), &mut value);
        value.push_str(pre);
        escape(place.of(text), &mut value);
        value.push_str(post);
        at = place.end;
    }
    let match_level = if at == part.start { "none" } else { "full" };
    escape(Span::new(at, part.end).of(text), &mut value);
    Marked { value, match_level }
}

fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            c => into.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn html_in_texts_is_text() {
        let text = "<b>tides</b> & 'more'";
        let marked = mark(text, Span::new(0, text.len()), &[Span::new(3, 8)], &("<em>".into(), "</em>".into()));
        assert_eq!(marked.value, "&lt;b&gt;<em>tides</em>&lt;/b&gt; &amp; &#39;more&#39;");
        assert_eq!(marked.match_level, "full");
        let part = mark(text, Span::new(9, 15), &[Span::new(3, 8)], &("<em>".into(), "</em>".into()));
        assert_eq!((part.value.as_str(), part.match_level), ("/b&gt; &amp; ", "none"));
    }
}
