//! The size of an index beside that of its sources: chunks carry titles and headings, which must stay short.

use std::fs;
use std::path::Path;

use pericope_index::{IndexSpec, IndexWriter};
use pericope_read::{ReadOptions, read_bytes};
use pericope_testkit::documents::sentence_chunks;
use pericope_testkit::hostile;

/// Bytes of an index for each byte of its sources, at the most: a chunk of a few bytes carries a title and six headings of
/// 300 characters each, beside its own fields.
const MOST: u64 = 100;

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries
        .map(
            |entry| {
                if entry.file_type().unwrap().is_dir() { size(&entry.path()) } else { entry.metadata().unwrap().len() }
            },
        )
        .sum()
}

/// Bytes of the source, and of the index of it, a chunk a sentence.
fn indexed(family: &str, scale: usize) -> (u64, u64) {
    let (extension, bytes) = hostile::document(family, scale).unwrap();
    let source = bytes.len() as u64;
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::create_or_open(dir.path(), &IndexSpec::new("sentence", "words")).unwrap();
    read_bytes("d", extension, bytes, &ReadOptions::default(), &mut |document| {
        if let Ok(document) = document {
            writer.add(&document, &sentence_chunks(&document)).unwrap();
        }
    });
    writer.finish().unwrap();
    (source, size(dir.path()))
}

#[test]
fn an_index_grows_as_its_sources_do() {
    let families = [
        "md_long_heading",
        "md_heading_of_words",
        "md_setext_one_line",
        "md_headings_just_short",
        "md_path_just_short",
        "md_title_in_front",
        "html_long_heading",
        "html_long_title",
        "html_long_anchor",
        "rst_long_title",
        "rst_long_target",
        "adoc_long_title",
        "adoc_long_prefix",
        "jsonl_title",
        "jsonl_long_id",
    ];
    let (_, empty) = indexed("jsonl_deep", 1);
    for family in families {
        let [(one, small), (two, large)] = [30_000, 60_000].map(|scale| {
            let (source, index) = indexed(family, scale);
            (source, index.saturating_sub(empty))
        });
        assert!(large <= MOST * two, "{family}: {large} bytes for {two}");
        let growth = two as f64 / one as f64 * 1.25;
        assert!(large as f64 <= small as f64 * growth + 65_536.0, "{family}: {small} for {one}, {large} for {two}");
    }
}
