//! The chunkers that are compared.

use pericope::segmenters;
use pericope_segment::registry::check_in;
use pericope_segment::spec::Spec;

use crate::status::Failure;

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
    pub name: String,
    pub spec: String,
}

/// The usual ones and the user's own, each once.
pub fn chunkers(own: &[String], only: bool, model: bool) -> Result<Vec<Named>, Failure> {
    let usual: &[(&str, &str)] = if model { &WITH_MODEL } else { &WITHOUT_MODEL };
    let named = |&(name, spec): &(&str, &str)| Named { name: name.into(), spec: spec.into() };
    let mut all: Vec<Named> = usual.iter().filter(|_| !only).map(named).collect();
    for text in own {
        let wrong = |problem: &dyn std::fmt::Display| Failure::usage(format!("--chunker {text}: {problem}"));
        let (name, written) = parted(text);
        let spec = Spec::parse(written).map_err(|e| wrong(&e))?;
        check_in(segmenters(), &spec).map_err(|e| wrong(&e))?;
        let is_known = |known: &Named| Spec::parse(&known.spec).is_ok_and(|other| other == spec);
        if name.is_none() && all.iter().any(is_known) {
            continue;
        }
        if let Some(taken) = name.filter(|name| all.iter().any(|known| known.name == *name)) {
            return Err(wrong(&format_args!("another chunker is called '{taken}'")));
        }
        let name = name.map_or_else(|| unused(&spec.name, &all), ToOwned::to_owned);
        all.push(Named { name, spec: written.to_owned() });
    }
    if all.len() < 2 {
        return Err(Failure::usage(
            "there is only one chunker to compare: name another with --chunker, or leave out --only",
        ));
    }
    Ok(all)
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
    use super::*;

    fn names(own: &[&str], only: bool, model: bool) -> Result<Vec<String>, String> {
        let own: Vec<String> = own.iter().map(|text| (*text).to_owned()).collect();
        let found = chunkers(&own, only, model).map_err(|e| e.to_string())?;
        Ok(found.into_iter().map(|named| format!("{} {}", named.name, named.spec)).collect())
    }

    #[test]
    fn the_users_chunkers_come_after_the_usual_ones() {
        let found = names(&["recursive:tokens=400", "mine=fixed:words=50", "structure"], false, false).unwrap();
        assert_eq!(found.len(), 7);
        assert_eq!(found[5..], ["recursive-2 recursive:tokens=400", "mine fixed:words=50"]);
        let with_model = names(&[], false, true).unwrap();
        assert_eq!(with_model[4..], ["fusion fusion", "topic topic"]);
        assert_eq!(names(&["a=structure", "paragraph"], true, false).unwrap(), ["a structure", "paragraph paragraph"]);
    }

    #[test]
    fn what_cannot_be_compared_is_named() {
        for (own, only, says) in [
            (&["fixd:words=9"][..], false, "fixd"),
            (&["fixed=recursive"], false, "another chunker is called 'fixed'"),
            (&["structure"], true, "only one chunker"),
        ] {
            let error = names(own, only, false).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
