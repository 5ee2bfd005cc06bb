//! What holds for every page, whatever is in the data: text stays text, nothing is loaded, nothing else may run.

use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use pericope_api::{Chunk, Document, Span};
use pericope_report::chunks::ChunksPage;
use pericope_report::run::{Report, write, write_many};
use pericope_report::segmentation::Report as SegmentReport;
use sha2::{Digest, Sha256};

use crate::report::HOSTILE;
use crate::support::html::check;

/// One page of each kind that this crate makes of a run, a segmentation evaluation or documents, all of hostile text.
fn pages() -> Vec<(&'static str, String)> {
    let folder = tempfile::tempdir().unwrap();
    let (summary, run, items) = crate::report::hostile();
    let at = folder.path().join("run");
    crate::report::save(&at, &summary, &run, &items);
    let report = Report::load(&at).unwrap();
    write(&at, &report).unwrap();
    let other = Report { label: Some(HOSTILE.into()), ..report.clone() };
    let several = write_many(&folder.path().join("several"), &[report, other]).unwrap();
    let read = |path: &std::path::Path| fs::read_to_string(path).unwrap();

    let mut segmentation = SegmentReport { name: HOSTILE.into(), ..crate::snapshots::segmentation() };
    segmentation.sets.iter_mut().for_each(|set| set.skipped.push(HOSTILE.into()));
    segmentation.published.iter_mut().for_each(|row| row.system.push_str(HOSTILE));
    segmentation.evaluation.rows.iter_mut().for_each(|row| row.spec.push_str(HOSTILE));

    let document = Document::from_sentences(HOSTILE, &[HOSTILE, HOSTILE]);
    let chunk = Chunk {
        document: HOSTILE.into(),
        ordinal: 0,
        span: Span::new(0, document.source.len()),
        heading_path: vec![HOSTILE.into()],
        tokens: 3,
        hash: 0,
        context: None,
    };
    let chunks = ChunksPage::new(HOSTILE);
    vec![
        ("run", read(&at.join("index.html"))),
        ("items", read(&at.join("items.html"))),
        ("overview", read(&several.html)),
        ("segmentation", segmentation.page()),
        ("chunks", format!("{}{}{}", chunks.begin(), chunks.document(&document, &[chunk]), chunks.end())),
    ]
}

fn inside<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = page.split_once(from).unwrap();
    rest.split_once(to).unwrap().0
}

#[test]
fn text_stays_text_in_every_page() {
    for (name, page) in pages() {
        check(&page);
        let text = page.contains("&lt;script&gt;alert(1)&lt;/script&gt;");
        // The page of all items holds its texts as JSON for its script.
        let json = page.contains("\\u003cscript>alert(1)");
        assert!(text || json, "{name} does not show the text");
        assert!(!page.contains("<script>alert(1)") && !page.contains("<img"), "{name}");
    }
}

#[test]
fn every_page_allows_its_own_style_and_script_and_nothing_else() {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    for (name, page) in pages() {
        let policy = inside(&page, "<meta http-equiv=\"Content-Security-Policy\" content=\"", "\"");
        let style = hash(inside(&page, "<style>", "</style>"));
        let script = hash(inside(&page, "<script>", "</script>"));
        let wanted = format!(
            "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; \
             form-action 'none'"
        );
        assert_eq!(policy.replace("&#39;", "'"), wanted, "{name}");
        let dark = page.contains("prefers-color-scheme: dark") && page.contains("name=\"color-scheme\"");
        assert!(dark, "{name} knows no dark mode");
    }
}
