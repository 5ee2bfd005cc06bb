//! The chunkers that are compared.

use pericope::segmenters;
use pericope_eval::comparison::{Named, add, usual};

use crate::status::Failure;

/// The usual ones and the user's own, each once.
pub fn chunkers(own: &[String], only: bool, model: bool) -> Result<Vec<Named>, Failure> {
    let mut all = if only { Vec::new() } else { usual(model) };
    for text in own {
        let added = add(&mut all, text, segmenters());
        added.map_err(|problem| Failure::usage(format!("--chunker {text}: {problem}")))?;
    }
    if all.len() < 2 {
        return Err(Failure::usage(
            "there is only one chunker to compare: name another with --chunker, or leave out --only",
        ));
    }
    Ok(all)
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
