//! Fonts of Chinese, Japanese and Korean whose letters are not in the file. The parser gives up on a page that names one.

use std::collections::BTreeSet;

use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream};

/// Longest name of an encoding, in characters.
const LONGEST: usize = 40;

/// Codes of two bytes that are their characters, but for halves of pairs and for private ones.
const SAME: &[u8] = b"3 beginbfrange\n<0000> <9fff> <0000>\n<ac00> <d7a3> <ac00>\n<f900> <ffef> <f900>\nendbfrange\n";

/// Gives such fonts an encoding that the parser reads: where the codes are Unicode they are read as that, else as nothing.
/// Answers with the names of the encodings of the latter.
pub(super) fn mend(document: &mut Document) -> BTreeSet<String> {
    let mut unknown = BTreeSet::new();
    let mut found: Vec<(ObjectId, bool)> = Vec::new();
    for (&id, object) in &document.objects {
        let Ok(font) = object.as_dict() else { continue };
        let named = |key: &[u8]| {
            let value = font.get(key).ok().and_then(|value| document.dereference(value).ok());
            value.and_then(|(_, value)| value.as_name().ok())
        };
        let composite = named(b"Subtype").is_some_and(|kind| kind == b"Type0");
        let Some(encoding) = named(b"Encoding").filter(|_| composite) else { continue };
        let name = String::from_utf8_lossy(encoding);
        if name == "Identity-H" || name == "Identity-V" {
            continue;
        }
        let is_unicode = name.contains("UCS2") || name.contains("UTF16");
        if !is_unicode {
            unknown.insert(name.chars().take(LONGEST).collect());
        }
        found.push((id, is_unicode));
    }
    for (id, is_unicode) in found {
        let Ok(font) = document.get_dictionary_mut(id) else { continue };
        font.set("Encoding", Object::Name(b"Identity-H".to_vec()));
        if !is_unicode {
            // What it says of codes is of others than those that are read now.
            font.remove(b"ToUnicode");
        } else if !font.has(b"ToUnicode") {
            font.set("ToUnicode", Object::Stream(Stream::new(Dictionary::new(), SAME.to_vec())));
        }
    }
    unknown
}

/// The reason why text in fonts of these encodings is not read.
pub(super) fn why(unknown: &BTreeSet<String>) -> String {
    let names: Vec<&str> = unknown.iter().take(3).map(String::as_str).collect();
    format!("the encoding of a font is not supported ({})", names.join(", "))
}
