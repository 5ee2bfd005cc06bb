//! Sources that clash, and sources of which a part fails: what is said of them, and what is remembered.

use pericope_index::pipeline::Options;

use crate::dense_spec;
use crate::incremental::{Shelf, pass};

/// What failed, by the names of the failures.
fn failures(dir: &std::path::Path, shelf: &Shelf) -> Vec<String> {
    let (report, ..) = pass(dir, &dense_spec(), shelf, &Options::default(), true);
    report.failures.into_iter().map(|failure| failure.document).collect()
}

#[test]
fn a_file_and_a_line_of_one_id_clash_whichever_is_read_first() {
    for (rows, named) in [("z.jsonl", "z.jsonl, \"one.md\""), ("a.jsonl", "one.md, \"one.md\"")] {
        let whole = {
            let mut shelf = Shelf::default();
            shelf.put("one.md", &[("one.md", &["Foxes dig."])]);
            shelf.put(rows, &[("one.md", &["Hares run."]), ("two", &["Owls hoot."])]);
            shelf
        };
        // Both at once, the file first, and the lines first.
        for first in [None, Some("one.md"), Some(rows)] {
            let dir = tempfile::tempdir().unwrap();
            if let Some(first) = first {
                let mut shelf = whole.clone();
                shelf.sources.retain(|name, _| name == first);
                assert_eq!(failures(dir.path(), &shelf), [""; 0], "{rows} {first:?}");
            }
            for run in 1..4 {
                assert_eq!(failures(dir.path(), &whole), [named], "{rows} {first:?}, run {run}");
            }
        }
    }
}

#[test]
fn an_id_may_move_from_a_file_that_lost_its_text() {
    let dir = tempfile::tempdir().unwrap();
    let mut shelf = Shelf::default();
    shelf.put("one.md", &[("one.md", &["Foxes dig."])]);
    assert_eq!(failures(dir.path(), &shelf), [""; 0]);
    shelf.put("one.md", &[("one.md", &[" "])]);
    shelf.put("z.jsonl", &[("one.md", &["Hares run."])]);
    for _ in 0..2 {
        assert_eq!(failures(dir.path(), &shelf), [""; 0]);
    }
}

#[test]
fn a_source_that_failed_in_part_is_read_again_and_remembered_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let mut shelf = Shelf::default();
    // A document without sentences is a bad line.
    shelf.put("rows.jsonl", &[("a", &["Foxes dig."]), ("b", &[])]);
    for _ in 0..2 {
        let (report, _, contents) = pass(dir.path(), &dense_spec(), &shelf, &Options::default(), true);
        assert_eq!((report.progress.failed, shelf.take_read().len()), (1, 1));
        let known = &contents.sources.sources["rows.jsonl"];
        assert_eq!((known.hash, known.stamp.map(|stamp| stamp.size)), (None, Some(10)));
    }
}
