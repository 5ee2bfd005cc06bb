//! The widths of letters, by which the end of one and the beginning of the next are known to touch.

use pdf_extract::{Dictionary, Document, Object, ObjectId};

/// Most codes of a document whose widths are written out.
const MOST: usize = 200_000;

/// Writes out the widths that composite fonts give for ranges of codes (`W`, ISO 32000-1, 9.7.4.3): the parser takes such codes for
/// as wide as the default, which is nothing in the files of some programs, and then all of them stand apart. What cannot be read
/// of the widths goes.
pub(super) fn write_out(document: &mut Document) {
    let mut left = MOST;
    let mut found: Vec<(ObjectId, Option<usize>, Vec<Object>)> = Vec::new();
    for (&id, object) in &document.objects {
        let Ok(font) = object.as_dict() else { continue };
        found.extend(widths(document, font, &mut left).map(|widths| (id, None, widths)));
        // A font may lie within the one that uses it.
        let inner = font.get(b"DescendantFonts").and_then(Object::as_array).map(Vec::as_slice).unwrap_or_default();
        for (at, font) in inner.iter().enumerate().filter_map(|(at, inner)| Some((at, inner.as_dict().ok()?))) {
            found.extend(widths(document, font, &mut left).map(|widths| (id, Some(at), widths)));
        }
    }
    for (id, within, widths) in found {
        let Ok(font) = document.get_dictionary_mut(id) else { continue };
        let font = match within {
            None => Some(font),
            Some(at) => {
                let inner = font.get_mut(b"DescendantFonts").and_then(Object::as_array_mut).ok();
                inner.and_then(|inner| inner.get_mut(at)?.as_dict_mut().ok())
            }
        };
        if let Some(font) = font {
            font.set("W", Object::Array(widths));
        }
    }
}

/// The widths of a font without ranges, where it has any.
fn widths(document: &Document, font: &Dictionary, left: &mut usize) -> Option<Vec<Object>> {
    let is_font = font.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind.starts_with(b"CIDFontType"));
    let resolved = |object| document.dereference(object).ok().map(|(_, object)| object);
    let given = font.get(b"W").ok().filter(|_| is_font).and_then(resolved)?.as_array().ok()?;
    let code = |at: usize| {
        let code = given.get(at).and_then(resolved)?.as_i64().ok()?;
        (0..=0xffff).contains(&code).then_some(code)
    };
    let (mut at, mut out, mut is_changed) = (0, Vec::new(), false);
    while at < given.len() {
        let (first, next) = (code(at), given.get(at + 1).and_then(resolved));
        if let (Some(first), Some(Object::Array(list))) = (first, next) {
            out.extend([Object::Integer(first), Object::Array(list.clone())]);
            at += 2;
            continue;
        }
        is_changed = true;
        let width = given.get(at + 2).and_then(resolved).filter(|width| width.as_float().is_ok());
        let (Some(first), Some(last), Some(width)) = (first, code(at + 1), width) else { break };
        let count = usize::try_from(last - first + 1).unwrap_or(0);
        if count > 0 && count <= *left {
            *left -= count;
            out.extend([Object::Integer(first), Object::Array(vec![width.clone(); count])]);
        }
        at += 3;
    }
    is_changed.then_some(out)
}
