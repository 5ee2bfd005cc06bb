//! Files of documents whose boundaries are known.

use pericope_segeval::read::{Layout, Options, read};

use super::folder;
use super::parts::choice;

pub(super) const WORDS: &[&str] = &[
    "{\"id\":\"d\",\"sentences\":[\"a\",\"b\"],\"boundaries\":[1]}\n",
    "\"sentences\":",
    "\"boundaries\":",
    "\"id\":",
    "==========\n",
    "========,1,preface.\n",
    "========,2,Title.\n",
    "[{\"id\":\"d\",\"text\":\"ab\",\"annotations\":[",
    "{\"begin\":0,\"length\":1}",
    "18446744073709551615",
    "-1",
    "[",
    "]",
    "}",
    ",",
    "\u{feff}",
    "\r\n",
    "é",
];

pub(super) fn segmentation(data: &[u8]) {
    let (kind, data) = choice(data, 5);
    let (name, layout) = [
        ("set.jsonl", Some(Layout::Jsonl)),
        ("set.ref", Some(Layout::Choi)),
        ("set", Some(Layout::Wiki727)),
        ("set.json", Some(Layout::WikiSection)),
        // Found by looking.
        ("set.txt", None),
    ][kind];
    folder::with(|folder| {
        let path = folder.join(name);
        std::fs::write(&path, data).expect("a temporary file");
        // Half of a text is a sentence, so that ranges fall inside of characters where that can be.
        let split = |text: &str| {
            let middle = text.floor_char_boundary(text.len() / 2);
            vec![0..middle, middle..text.len()]
        };
        let options = Options { layout, ..Options::new(&split) };
        match read(&path, &options) {
            Ok(set) => {
                assert!(!set.documents.is_empty());
                let mut ids = std::collections::HashSet::new();
                for one in &set.documents {
                    one.document.check().expect("sentences cover the source");
                    assert!(ids.insert(&one.document.id), "two documents are called {:?}", one.document.id);
                    let ends = one.reference.after();
                    assert!(ends.is_sorted() && ends.iter().all(|&end| end > 0 && end < one.document.len()));
                }
            }
            Err(error) => assert!(error.to_string().contains("set"), "{error} does not name the file"),
        }
    });
}
