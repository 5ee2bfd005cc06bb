//! The four laws of chunks, for every segmenter of the registry, on texts that break splitters.

use crate::support::Fake;
use pericope_api::{Document, Format, Kind, Sentence, Span};
use pericope_segment::{Limits, laws, registry, spec::Spec};
use proptest::prelude::*;

/// Specs of every registered segmenter, the defaults and some others.
fn specs() -> Vec<String> {
    let mut specs: Vec<String> =
        registry::list().iter().map(|e| e.name.to_owned()).filter(|n| n != "same-size").collect();
    specs.extend(registry::list().iter().map(|e| e.example.to_owned()));
    let more = [
        "fixed:words=3",
        "fixed:tokens=5",
        "fixed:tokens=6,overlap=2",
        "recursive:chars=1",
        "recursive:chars=12",
        "recursive:tokens=4",
        "cogltx-blocks:tokens=1",
        "cogltx-blocks:tokens=9",
        "window:k=1,pool=min",
        "window:k=2,pool=max",
        "kamradt:stddev=0.5",
        "kamradt:iqr=0.2",
        "kamradt:gradient=60",
        "texttiling:w=3,k=2",
        "graph:similarity=jaccard,k=2,runs=2",
        "graph:similarity=jaccard+sequence-matcher,resolution=5",
        "graph:decay=off",
        "c99:c=-1",
        "u00:max=2",
        "bayesseg:prior=3,cost=0,max=4",
        "variance:penalty=0,longest=2",
        "fusion:price=-40,longest=3",
        "cluster:piece=3,size=6",
        "sentence:min_tokens=5",
        "paragraph:target_tokens=9",
        "structure:tau=0.2",
    ];
    specs.extend(more.map(str::to_owned));
    specs
}

fn check_all(document: &Document, limits: Limits) {
    document.check().expect("a fair document");
    // Some specs here name a minimum of their own, which must not exceed the maximum.
    let min_tokens = limits.min_tokens.or(limits.max_tokens.map(|_| 0));
    let limits = Limits { min_tokens, ..limits };
    for spec in specs() {
        let resources = Fake { overrides: limits };
        let chunker =
            registry::build(&Spec::parse(&spec).unwrap(), &resources).unwrap_or_else(|e| panic!("{spec}: {e}"));
        if let Err(error) = laws::check_chunker(&chunker, document) {
            panic!("{spec} with {limits:?} on {:?}: {error}", document.source);
        }
        let boundaries = chunker.boundaries(document).unwrap();
        assert_eq!(boundaries.sentences(), document.len());
        let again = registry::build(chunker.spec(), &Fake::default()).unwrap();
        assert_eq!(again.spec(), chunker.spec(), "a resolved spec resolves to itself");
    }
}

fn limits(max_tokens: Option<usize>, min_tokens: Option<usize>, overlap: Option<usize>) -> Limits {
    Limits { max_tokens, min_tokens, target_tokens: None, overlap }
}

/// A document of given pieces with given kinds, separated by `between`.
fn document(parts: &[(String, Kind)], between: &str) -> Document {
    let mut source = String::new();
    let mut sentences = Vec::new();
    let mut section = 0;
    let mut sections = vec![Vec::new()];
    for (i, (text, kind)) in parts.iter().enumerate() {
        let start = source.len();
        source.push_str(text);
        let span = Span::new(start, source.len()).trimmed(&source);
        source.push_str(between);
        if span.is_empty() {
            continue;
        }
        if matches!(kind, Kind::Heading(_)) {
            section += 1;
            sections.push(vec![text.trim().into()]);
        }
        sentences.push(Sentence { span, kind: *kind, paragraph: (i / 2) as u32, section });
    }
    Document {
        id: "d".into(),
        title: None,
        format: Format::Html,
        source: source.into(),
        sentences,
        sections,
        anchors: vec![],
        encoding: None,
        rewrites: vec![],
    }
}

#[test]
fn texts_that_break_splitters() {
    let family = "👩‍👩‍👧‍👦".repeat(9);
    let spaces = format!("{} tail", "long sentence without an end ".repeat(60));
    let texts = [
        "",
        " \n\t\r\n ",
        "x",
        "One sentence.",
        "你好。世界很大。我们去看看吧",
        "a\r\nb\r\n\r\nc\r\n",
        &family,
        &"x".repeat(3000),
        &"é".repeat(900),
        &"!?".repeat(400),
        &spaces,
        "🇩🇪🇫🇷🇮🇹🇪🇸🇩🇰",
        "e\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{feff}BOM and\u{a0}no-break\u{3000}wide\u{2028}lines",
        "ไม่มีช่องว่างระหว่างคำ",
        "한국어 문장입니다.",
        "https://example.org/a/very/long/path?with=query&and=more#fragment,and-so-on/until/it/is/over/a/hundred/bytes/long",
    ];
    for text in texts {
        for max in [None, Some(1), Some(2), Some(3), Some(7), Some(16), Some(256)] {
            for overlap in [None, Some(2)] {
                check_all(&Document::from_sentences("d", &[text]), limits(max, None, overlap));
            }
        }
    }
}

#[test]
fn blocks_and_headings() {
    let parts = [
        ("# Title", Kind::Heading(1)),
        ("First words here.", Kind::Prose),
        ("let a = 1;\n\nlet b = 2;", Kind::Code),
        ("## Part", Kind::Heading(2)),
        ("### Deeper", Kind::Heading(3)),
        ("<table><tr><td>a</td></tr><tr><td>b</td></TR></table>", Kind::Table),
        ("<!-- x -->", Kind::Markup),
        ("An item", Kind::ListItem),
        ("f(x)\n  g(y)\n\n\n  h(z)\n}", Kind::Code),
        ("## Empty", Kind::Heading(2)),
    ];
    let parts = parts.map(|(text, kind)| (text.to_owned(), kind));
    for max in (1..=20).map(Some).chain([None]) {
        for overlap in [None, Some(1), Some(3)] {
            check_all(&document(&parts, "\n\n"), limits(max, None, overlap));
            check_all(&document(&parts, "\r\n"), limits(max, max.map(|m| m / 2), overlap));
        }
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => Just(Kind::Prose), 1 => Just(Kind::ListItem), 1 => Just(Kind::Code), 1 => Just(Kind::Table),
        1 => Just(Kind::Markup), 1 => (1u8..4).prop_map(Kind::Heading),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-e ]{1,40}[.!?]",
        "[a-z]{1,12}",
        "[你好世界。]{1,12}",
        "(👩‍👩‍👧|🇩🇪|e\u{301}|[a-c]){1,8}",
        "([a-d=;{}]{1,9}\n){1,6}",
        "\\PC{1,20}",
        "[a-c/.?&=]{1,150}",
        "([a-c]{1,3}[\r\n \t]{1,3}){1,9}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn all_segmenters_keep_the_laws(
        parts in proptest::collection::vec((text(), kind()), 0..14),
        between in prop_oneof![Just("\n"), Just("\n\n"), Just("\r\n\r\n"), Just(" "), Just("")],
        max in prop_oneof![Just(None), (1usize..17).prop_map(Some), (17usize..60).prop_map(Some)],
        min in proptest::option::of(1usize..12),
        overlap in proptest::option::of(1usize..4),
    ) {
        let min = min.filter(|&min| max.is_none_or(|max| min <= max));
        check_all(&document(&parts, between), limits(max, min, overlap));
    }
}
