//! Inputs of findings that were mended: `findings/TARGET/NAME`, a test each.

use std::fs;

use pericope_fuzz::{TARGETS, corpus, find};

/// Runs the input of a finding.
fn replay(target: &str, name: &str) {
    let path = corpus::findings(target).join(name);
    let data = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    (find(target).unwrap().run)(&data);
}

/// Declares a test for each finding, called as its file is.
macro_rules! findings {
    ($($target:ident / $name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            replay(stringify!($target), stringify!($name));
        })*

        /// The findings that have a test.
        const TESTED: &[(&str, &str)] = &[$((stringify!($target), stringify!($name))),*];
    };
}

findings! {
    questions / a_corpus_id_is_no_path,
    markdown / an_empty_task_before_an_underline_is_no_panic,
    markdown / an_empty_task_with_a_tab_before_an_underline_is_no_panic,
    mdx / a_mask_within_a_character_loses_nothing,
    rst / a_long_word_before_a_reference_is_cut_between_characters,
    experiments / a_name_with_a_line_end_is_one_line,
    experiments / a_setting_with_a_line_end_is_one_line,
}

#[test]
fn every_finding_has_a_test() {
    for target in TARGETS {
        let Ok(entries) = fs::read_dir(corpus::findings(target.name)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().into_string().unwrap();
            assert!(TESTED.contains(&(target.name, name.as_str())), "{}/{name} has no test", target.name);
        }
    }
}
