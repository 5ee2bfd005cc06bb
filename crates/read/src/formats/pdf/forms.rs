//! What a page draws may draw other things, and itself where a file means ill: the parser would follow it for ever.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;
use pdf_extract::{Dictionary, Document, Object, ObjectId};

/// How deep forms may lie in each other, and pages in their tree.
const DEEPEST: usize = 16;

/// Empties images, which hold no text and which the parser reads as if they did, and the forms that contain themselves, or
/// others too deep.
///
/// # Errors
/// A sentence for people, where the tree of pages leads in a circle.
pub(super) fn defuse(document: &mut Document) -> Result<(), String> {
    for page in document.get_pages().into_values() {
        let mut at = Some(page);
        for step in 0.. {
            let Some(id) = at else { break };
            if step > DEEPEST * 4 {
                return Err("its pages lead in a circle".into());
            }
            let parent = document.get_dictionary(id).ok().and_then(|page| page.get(b"Parent").ok());
            at = parent.and_then(|parent| parent.as_reference().ok());
        }
    }
    let mut uses: BTreeMap<ObjectId, BTreeSet<ObjectId>> = BTreeMap::new();
    let mut bad: BTreeSet<ObjectId> = BTreeSet::new();
    // What the parser draws is what such a dictionary names, whatever it says that it is.
    for id in drawable(document) {
        let Ok(stream) = document.get_object(id).and_then(Object::as_stream) else { continue };
        let kind = stream.dict.get(b"Subtype").ok().and_then(|kind| document.dereference(kind).ok());
        if kind.is_some_and(|(_, kind)| kind.as_name().is_ok_and(|name| name == b"Image")) {
            bad.insert(id);
            continue;
        }
        match stream.dict.get(b"Resources").ok().and_then(|resources| dictionary(document, resources)) {
            Some(resources) => {
                uses.insert(id, drawn(document, resources));
            }
            // Without resources of its own it would use those of whoever draws it, itself among them.
            None => {
                let content = stream.get_plain_content().unwrap_or_else(|_| stream.content.clone());
                if memmem::find(&content, b"Do").is_some() {
                    bad.insert(id);
                }
            }
        }
    }
    // Layer by layer from those that draw nothing; what is never reached draws itself.
    for _ in 0..DEEPEST {
        let open: BTreeSet<ObjectId> = uses.keys().copied().collect();
        uses.retain(|_, drawn| drawn.iter().any(|form| open.contains(form)));
    }
    bad.extend(uses.into_keys());
    for id in bad {
        if let Some(Object::Stream(stream)) = document.objects.get_mut(&id) {
            stream.set_plain_content(Vec::new());
        }
    }
    Ok(())
}

/// Everything that some dictionary of the file offers to be drawn.
fn drawable(document: &Document) -> BTreeSet<ObjectId> {
    let mut found = BTreeSet::new();
    // A list instead of recursion: the file says how deep its parts lie in each other.
    let mut open: Vec<&Object> = document.objects.values().collect();
    while let Some(object) = open.pop() {
        let dictionary = match object {
            Object::Array(parts) => {
                open.extend(parts.iter().filter(|part| matches!(part, Object::Array(_) | Object::Dictionary(_))));
                continue;
            }
            Object::Dictionary(dictionary) => dictionary,
            Object::Stream(stream) => &stream.dict,
            _ => continue,
        };
        found.extend(drawn(document, dictionary));
        open.extend(dictionary.iter().map(|(_, part)| part));
    }
    found
}

/// The objects that these resources let a page draw.
fn drawn(document: &Document, resources: &Dictionary) -> BTreeSet<ObjectId> {
    let forms = resources.get(b"XObject").ok().and_then(|forms| dictionary(document, forms));
    let named = forms.into_iter().flat_map(Dictionary::iter);
    named.filter_map(|(_, form)| document.dereference(form).ok().and_then(|(id, _)| id)).collect()
}

fn dictionary<'d>(document: &'d Document, object: &'d Object) -> Option<&'d Dictionary> {
    document.dereference(object).ok().and_then(|(_, object)| object.as_dict().ok())
}
