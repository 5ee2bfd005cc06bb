use pericope_segment::registry::{SegmenterEntry, check_in};
use pericope_segment::spec::Spec;

/// What is compared where an embedding model is at hand: the usual ways, two semantic ones, one of them trained, and fixed pieces of
/// the size of the other's.
const WITH_MODEL: [(&str, &str); 6] = [
    ("fixed", "fixed:words=100"),
    ("same-size", "same-size:reference=fusion"),
    ("recursive", "recursive:tokens=128"),
    ("structure", "structure"),
    ("fusion", "fusion"),
    ("topic", "topic"),
];
/// What is compared without a model.
const WITHOUT_MODEL: [(&str, &str); 5] = [
    ("fixed", "fixed:words=100"),
    ("same-size", "same-size:reference=structure"),
    ("recursive", "recursive:tokens=128"),
    ("structure", "structure"),
    ("texttiling", "texttiling"),
];

/// A chunker with its name in tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The spec of its segmenter.
    pub spec: String,
}

/// Returns the chunkers that are usually compared; `model` says whether the embedding model is at hand that semantic ones read
/// with.
#[must_use]
pub fn usual(model: bool) -> Vec<Named> {
    let usual: &[(&str, &str)] = if model { &WITH_MODEL } else { &WITHOUT_MODEL };
    usual.iter().map(|&(name, spec)| Named { name: name.into(), spec: spec.into() }).collect()
}

/// Adds a chunker: `NAME=SPEC`, or a spec alone, which is passed over where it is there already. `segmenters` are those that
/// specs may name.
///
/// # Errors
/// In words, for a spec that cannot be used, and for a name that another chunker has.
pub fn add(chunkers: &mut Vec<Named>, text: &str, segmenters: &[SegmenterEntry]) -> Result<(), String> {
    let (name, written) = parted(text);
    let spec = Spec::parse(written).map_err(|e| e.to_string())?;
    check_in(segmenters, &spec).map_err(|e| e.to_string())?;
    let is_known = |known: &Named| Spec::parse(&known.spec).is_ok_and(|other| other == spec);
    if name.is_none() && chunkers.iter().any(is_known) {
        return Ok(());
    }
    if let Some(taken) = name.filter(|name| chunkers.iter().any(|known| known.name == *name)) {
        return Err(format!("another chunker is called '{taken}'"));
    }
    let name = name.map_or_else(|| unused(&spec.name, chunkers), ToOwned::to_owned);
    chunkers.push(Named { name, spec: written.to_owned() });
    Ok(())
}

/// `NAME=SPEC` in its two parts; a spec alone has no name. What comes before the first `=` of a spec holds a colon.
fn parted(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)) && name.len() <= 60
    };
    match text.split_once('=') {
        Some((name, spec)) if is_name(name) && !spec.is_empty() => (Some(name), spec),
        _ => (None, text),
    }
}

/// The name, with a number where others have it.
fn unused(name: &str, all: &[Named]) -> String {
    let is_free = |name: &String| all.iter().all(|known| known.name != *name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_segment::registry::list;

    use super::*;

    #[test]
    fn ones_own_chunkers_come_after_the_usual_ones_and_each_once() {
        let mut all = usual(false);
        for text in ["recursive:tokens=400", "mine=fixed:words=50", "structure"] {
            add(&mut all, text, list()).unwrap();
        }
        assert_eq!(all.len(), 7);
        let own = all[5..].iter().map(|one| format!("{} {}", one.name, one.spec)).collect::<Vec<_>>();
        assert_eq!(own, ["recursive-2 recursive:tokens=400", "mine fixed:words=50"]);
        assert!(add(&mut all, "fixd:words=9", list()).unwrap_err().contains("fixd"));
        assert_eq!(add(&mut all, "fixed=recursive", list()).unwrap_err(), "another chunker is called 'fixed'");
        assert_eq!(all.len(), 7);
    }
}
