//! Definitions: `What is X?`, answered where a sentence, a list of terms or a `dfn` says so.

use pericope_api::{Document, Format, Kind, Span};

use super::candidate::Candidate;
use super::corpus::{FEWEST, count_words, line, rest_of_paragraph};
use super::leaks::Lines;
use super::{QuestionKind, corpus::Corpus};

/// Words that make a clause of what might be a term.
const CLAUSE: [&str; 6] = ["that", "which", "who", "this", "these", "it"];
/// Most words of a term.
const LONGEST: usize = 5;
/// Words that begin a sentence about something said before, or about nothing in particular.
const NO_TERMS: &str = "above after all also although and another any anything as at because before below between beyond \
    both but by down during each either every everything example few first for from further he here how \
    however i if in it its last less let many more most much my neither no none not note nothing now on \
    once one only or other our out over please remember second see she since so some something such that \
    the their then there these they this those to today under until up we what whatever when where which \
    while who with within without you your";

/// A term and where it is defined.
pub(super) struct Definition {
    pub term: String,
    pub answer: Span,
}

/// All definitions of a document.
pub(super) fn definitions(document: &Document) -> Vec<Definition> {
    let mut found = Vec::new();
    for (i, sentence) in document.sentences.iter().enumerate() {
        if !matches!(sentence.kind, Kind::Prose | Kind::ListItem) {
            continue;
        }
        let shown = line(document, sentence.span);
        let source = document.text(sentence.span);
        let named = defined(&shown).map(|term| (term, rest_of_paragraph(document, i)));
        let named = named.or_else(|| marked(source).map(|term| (term, rest_of_paragraph(document, i))));
        let named = named.or_else(|| entry(source, &shown).map(|term| (term, rest_of_paragraph(document, i))));
        let named = named.or_else(|| listed(document, i, &shown).map(|(term, answer)| (term, Some(answer))));
        if let Some((term, Some(answer))) = named
            && is_term(&term)
            && count_words(document, answer) >= FEWEST
        {
            found.push(Definition { term, answer });
        }
    }
    found
}

/// The question about a term.
pub(super) fn query(term: &str) -> String {
    let article = ["A ", "An "].into_iter().find(|article| term.starts_with(article));
    match article.and_then(|article| Some((article, term.strip_prefix(article)?))) {
        Some((article, bare)) => format!("What is {}{bare}?", article.to_lowercase()),
        None => format!("What is {term}?"),
    }
}

pub(super) fn candidates(corpus: &Corpus<'_>, at: usize, document: &Document, lines: &Lines) -> Vec<Candidate> {
    (definitions(document).into_iter())
        .map(|Definition { term, answer }| Candidate {
            document: at,
            kind: QuestionKind::Definition,
            // A heading that is the term itself would answer in the definition's place.
            masks: lines.headings_of(corpus, &term),
            query: query(&term),
            answer,
        })
        .collect()
}

/// `X is a ...`, `X refers to ...`, `X means ...`: the words before, with the article.
fn defined(sentence: &str) -> Option<String> {
    let words: Vec<&str> = sentence.split(' ').collect();
    let at =
        words.iter().take(LONGEST + 2).position(|word| ["is", "are", "refers", "means", "denotes"].contains(word))?;
    let (term, rest) = (words.get(..at)?, words.get(at..)?);
    let next = *rest.get(1)?;
    let says = match *rest.first()? {
        "is" | "are" => ["a", "an", "the"].contains(&next),
        "refers" => next == "to",
        _ => true,
    };
    says.then(|| term.join(" "))
}

/// The text of the first `dfn` element.
fn marked(source: &str) -> Option<String> {
    let (_, after) = source.split_once("<dfn")?;
    let (_, after) = after.split_once('>')?;
    let (term, _) = after.split_once("</dfn>")?;
    (!term.contains('<')).then(|| term.trim().to_owned())
}

/// `**X**: ...` and the like at the start of a list item or a paragraph.
fn entry(source: &str, shown: &str) -> Option<String> {
    let bare =
        source.trim_start_matches(|c: char| c.is_whitespace() || "-*+•".contains(c) && !source.starts_with("**"));
    let bare = if bare.starts_with('`') || bare.starts_with("**") { bare } else { source };
    let after_marker = bare.trim_start_matches(['-', '+', '•', ' ']);
    let strong = ["**", "`", "__", "<b>", "<strong>", "<code>", "<li><strong>", "<li><b>", "<li><code>", "<p><strong>"];
    if !strong.iter().any(|mark| after_marker.starts_with(mark) || bare.starts_with(mark)) {
        return None;
    }
    let end = [": ", " - ", " – ", " — "].iter().filter_map(|sign| shown.find(sign)).min()?;
    Some(shown.get(..end)?.to_owned())
}

/// An entry of a list of terms: `<dt>` and `<dd>`, a term above an indented paragraph (reStructuredText), `X:: ...`
/// (AsciiDoc).
fn listed(document: &Document, i: usize, shown: &str) -> Option<(String, Span)> {
    let sentence = document.sentences.get(i)?;
    let next = document.sentences.get(i + 1)?;
    let source = document.text(sentence.span);
    let between = document.text(Span::new(sentence.span.end, next.span.start));
    let is_term = match document.format {
        Format::Html => source.contains("<dt") && document.text(next.span).contains("<dd"),
        Format::Rst => {
            let column = |at: usize| at - document.source.get(..at).and_then(|s| s.rfind('\n')).map_or(0, |n| n + 1);
            between.matches('\n').count() == 1
                && !source.contains('\n')
                && !source.ends_with(':')
                && sentence.paragraph != next.paragraph
                && column(next.span.start) > column(sentence.span.start)
        }
        Format::Asciidoc => source.ends_with("::"),
        _ => false,
    };
    if !is_term || matches!(next.kind, Kind::Heading(_) | Kind::Markup) {
        return None;
    }
    Some((shown.trim_end_matches(':').to_owned(), rest_of_paragraph(document, i + 1)?))
}

/// Whether a question can be asked about these words.
fn is_term(term: &str) -> bool {
    let bare = term.strip_prefix("A ").or_else(|| term.strip_prefix("An ")).unwrap_or(term);
    let words: Vec<&str> = bare.split(' ').collect();
    let first = words.first().map(|word| word.to_lowercase()).unwrap_or_default();
    let letters = bare.chars().filter(|c| c.is_alphabetic()).count();
    (1..=LONGEST).contains(&words.len())
        && letters >= 3
        && NO_TERMS.split(' ').all(|word| word != first && word != first.trim_end_matches(['\'', '’', 's']))
        && !words.iter().any(|word| CLAUSE.contains(word))
        && !bare.contains([',', ';', ':', '(', ')', '"', '“', '?', '!', '{', '}', '<', '>', '|', '='])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use pericope_read::{ReadOptions, read_text};

    fn terms(format: &str, source: &str) -> Vec<(String, String)> {
        let document = read_text("d", format, source, &ReadOptions::default()).unwrap();
        let found = definitions(&document).into_iter();
        found.map(|d| (d.term, line(&document, d.answer))).collect()
    }

    #[test]
    fn sentences_lists_and_elements_define() {
        let source = "A replication slot is a place in the log that a server keeps for a reader. It stays.\n\n\
            This is a sentence that defines nothing whatever, and so it is left alone.\n\n\
            - **Warm standby**: a server that takes over within seconds of the failure.\n\
            - plain: nothing that is marked as a term is in this line of text.\n";
        assert_eq!(
            terms("md", source),
            [
                (
                    "A replication slot".to_owned(),
                    "A replication slot is a place in the log that a server keeps for a reader. It stays.".to_owned()
                ),
                (
                    "Warm standby".to_owned(),
                    "Warm standby: a server that takes over within seconds of the failure.".to_owned()
                ),
            ]
        );
        let html = "<dl><dt>Ballast</dt><dd>Weight that is carried low in a ship so that it stays upright.</dd></dl>\
            <p>We call this <dfn>heeling</dfn> when a ship leans over to one side in the wind.</p>";
        let found: Vec<String> = terms("html", html).into_iter().map(|(term, _)| term).collect();
        assert_eq!(found, ["Ballast", "heeling"]);
        let rst = "Words\n=====\n\nballast\n    Weight that is carried low in a ship so that it stays upright.\n";
        assert_eq!(terms("rst", rst)[0].0, "ballast");
    }

    #[test]
    fn what_points_elsewhere_is_no_term() {
        for (term, fine) in [
            ("Quorum", true),
            ("A `--force` flag", true),
            ("It", false),
            ("Note that app", false),
            ("Below 20 per cent", false),
            ("Members who vote", false),
            ("The problem", false),
            ("One way, often,", false),
            ("What's this", false),
            ("X", false),
            ("one two three four five six", false),
        ] {
            assert_eq!(is_term(term), fine, "{term}");
        }
    }
}
