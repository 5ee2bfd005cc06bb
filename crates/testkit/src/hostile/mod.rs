//! Generators of nasty documents: input on which a careless reader takes quadratic time, too much memory or a deep
//! stack.
//!
//! A [`Family`] makes documents of one kind in any size. Tests read each at `n` and `2 n` and compare the work;
//! `cargo run -p pericope-testkit --example hostile -- NAME N` writes one to standard output.

mod build;
mod markup;
pub mod pdf;
mod text;

/// A kind of nasty document.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The name: the format, an underscore and what is nasty, as in `rst_colons`.
    pub name: &'static str,
    /// The file name extension that chooses the reader, without a full stop.
    pub extension: &'static str,
    /// A scale that shows bad growth within seconds. A test in a debug build reads it and its double.
    pub scale: usize,
    /// Makes the document at a scale. In families of text the scale is the rough size in bytes; in others their own
    /// comment says what it is. The same scale gives the same bytes.
    pub make: fn(usize) -> Vec<u8>,
}

/// Returns the families of formats that are read in the reading process, in the order of formats.
pub fn families() -> impl Iterator<Item = &'static Family> {
    [text::FAMILIES, markup::FAMILIES].into_iter().flatten()
}

/// Returns the families of formats that are read by a process of their own. In the reading process they may abort it.
pub fn untrusted() -> impl Iterator<Item = &'static Family> {
    pdf::FAMILIES.iter()
}

/// Returns the names of all families, in the order of formats.
pub fn names() -> impl Iterator<Item = &'static str> {
    families().chain(untrusted()).map(|family| family.name)
}

/// Returns the extension and the bytes of family `name` at scale `n`; `None` where there is no such family.
#[must_use]
pub fn document(name: &str, n: usize) -> Option<(&'static str, Vec<u8>)> {
    families().chain(untrusted()).find(|family| family.name == name).map(|family| (family.extension, (family.make)(n)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{document, families, names};

    #[test]
    fn names_are_unique_and_sizes_follow_the_scale() {
        assert_eq!(names().collect::<HashSet<_>>().len(), names().count());
        assert!(document("none", 1).is_none());
        for family in families() {
            for n in [0, 1, 2, 1_000] {
                assert_eq!((family.make)(n), (family.make)(n), "{} {n}", family.name);
            }
        }
    }
}
