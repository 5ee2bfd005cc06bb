//! Marks between what a prompt says and what documents, questions and answers say.

use pericope_util::sha256_hex;

/// Hexadecimal digits of a mark.
const DIGITS: usize = 16;

/// What a prompt is filled with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Material<'a> {
    /// One text.
    Text(&'a str),
    /// Several, numbered from 1.
    Excerpts(&'a [&'a str]),
}

impl Material<'_> {
    fn texts(&self) -> &[&str] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::Excerpts(texts) => texts,
        }
    }
}

/// The mark of one prompt. No document can hold it: it is a checksum over everything that the prompt is filled with, the
/// document itself included, so each prompt has another one and nobody can write it down beforehand. The same prompt has
/// the same mark, so its answer is found in the cache again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence(String);

impl Fence {
    /// Makes the mark of `template`, filled with `values`, in a run with this `seed`.
    pub(crate) fn new(seed: u64, template: &str, values: &[(&str, Material<'_>)]) -> Self {
        let mut whole = format!("pericope fence 1 {seed} {} {template}", template.len());
        for (name, material) in values {
            for text in material.texts() {
                // The lengths say where each part ends.
                whole.push_str(&format!("\0{name} {} {text}", text.len()));
            }
        }
        let held =
            |mark: &str| values.iter().flat_map(|(_, material)| material.texts()).any(|text| text.contains(mark));
        loop {
            let sum = sha256_hex(&whole);
            let mark = sum.get(..DIGITS).unwrap_or(&sum);
            if !held(mark) {
                return Self(mark.to_owned());
            }
            whole = sum;
        }
    }

    /// Returns the mark.
    pub(crate) fn mark(&self) -> &str {
        &self.0
    }

    /// Returns texts between lines with the mark.
    pub(crate) fn around(&self, name: &str, material: Material<'_>) -> String {
        let mark = &self.0;
        let one = |name: &str, text: &str| format!("[begin {name} {mark}]\n{}\n[end {name} {mark}]", text.trim());
        match material {
            Material::Text(text) => one(name, text),
            Material::Excerpts([]) => "(no excerpts)".to_owned(),
            Material::Excerpts(texts) => {
                let numbered: Vec<String> =
                    texts.iter().enumerate().map(|(i, text)| one(&format!("excerpt {}", i + 1), text)).collect();
                numbered.join("\n\n")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn everything_that_a_prompt_is_filled_with_changes_its_mark() {
        let of = |seed, template, question, chunks: &[&str]| {
            Fence::new(
                seed,
                template,
                &[("question", Material::Text(question)), ("context", Material::Excerpts(chunks))],
            )
        };
        let base = of(7, "t", "q", &["a", "b"]);
        assert_eq!(base, of(7, "t", "q", &["a", "b"]));
        assert_eq!(base.mark().len(), DIGITS);
        let all = [
            of(8, "t", "q", &["a", "b"]),
            of(7, "u", "q", &["a", "b"]),
            of(7, "t", "p", &["a", "b"]),
            of(7, "t", "q", &["a", "c"]),
            of(7, "t", "q", &["ab"]),
            of(7, "t", "q", &["a", "b", ""]),
            base,
        ];
        assert_eq!(all.iter().map(Fence::mark).collect::<HashSet<_>>().len(), all.len());
    }

    #[test]
    fn every_text_has_its_own_fence() {
        let fence = Fence("m".into());
        assert_eq!(fence.around("answer", Material::Text(" a\n")), "[begin answer m]\na\n[end answer m]");
        assert_eq!(
            fence.around("context", Material::Excerpts(&["a", "b"])),
            "[begin excerpt 1 m]\na\n[end excerpt 1 m]\n\n[begin excerpt 2 m]\nb\n[end excerpt 2 m]"
        );
        assert_eq!(fence.around("context", Material::Excerpts(&[])), "(no excerpts)");
    }
}
