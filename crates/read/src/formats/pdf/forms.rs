//! Forms of a PDF are drawn by others, and by themselves where a file means ill: the parser would follow them for ever.

use std::collections::{BTreeMap, BTreeSet};

use pdf_extract::{Dictionary, Document, Object, ObjectId};

/// How deep forms may lie in each other, and pages in their tree.
const DEEPEST: usize = 16;

/// Empties the forms that contain themselves, or others too deep.
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
    for (&id, object) in &document.objects {
        let Ok(stream) = object.as_stream() else { continue };
        if stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name != b"Form") {
            continue;
        }
        match stream.dict.get(b"Resources").ok().and_then(|resources| dictionary(document, resources)) {
            Some(resources) => {
                uses.insert(id, drawn(document, resources));
            }
            // Without resources of its own it would use those of whoever draws it, itself among them.
            None if stream.dict.get(b"Subtype").is_ok() => {
                let content = stream.get_plain_content().unwrap_or_default();
                if content.windows(3).any(|w| w[0].is_ascii_whitespace() && &w[1..] == b"Do") {
                    bad.insert(id);
                }
            }
            None => {}
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

/// The objects that these resources let a page draw.
fn drawn(document: &Document, resources: &Dictionary) -> BTreeSet<ObjectId> {
    let forms = resources.get(b"XObject").ok().and_then(|forms| dictionary(document, forms));
    let references = forms.into_iter().flat_map(Dictionary::iter).filter_map(|(_, form)| form.as_reference().ok());
    references.collect()
}

fn dictionary<'d>(document: &'d Document, object: &'d Object) -> Option<&'d Dictionary> {
    document.dereference(object).ok().and_then(|(_, object)| object.as_dict().ok())
}
