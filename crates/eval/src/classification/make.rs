use pericope_api::{Document, Span};
use pericope_segment::split::Shares;

use super::mask::Mask;
use super::set::{ClassLine, chance, distinct};
use crate::data::{copies, format_name};
use crate::format;

/// Letters that a part of a class's name has at least to be taken out by itself.
const PART: usize = 4;

/// How a set is made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MakeOptions {
    /// Whether the names of all classes are taken out of all texts.
    pub mask: bool,
    /// Other words that are taken out with them.
    pub words: Vec<String>,
    /// Words of a document at least and at most (0: any number), counted by white space.
    pub words_each: (usize, usize),
    /// Documents of a class at most, chosen by their ids; 0: all.
    pub documents: usize,
    /// The shares to validate and to test on, and the seed of all choices.
    pub shares: Shares,
}

/// A set that was made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Made {
    /// The documents.
    pub lines: Vec<ClassLine>,
    /// Names that were taken out.
    pub masked: usize,
    /// Documents with too few words, or too many.
    pub unfit: usize,
    /// Documents of which most stands in another one.
    pub copies: usize,
    /// Documents beyond the number that is wanted of a class.
    pub beyond: usize,
}

impl Made {
    /// What was left out, a line each.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        let of = |n: usize, what: &str| (n > 0).then(|| format!("{} {what}", format::plural(n, "document")));
        [
            of(self.unfit, "with too few words or too many"),
            of(self.beyond, "beyond the number that is wanted of a class"),
            of(self.copies, "of which most stands in another one"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Makes a set of documents by class. Of documents of which most stands in each other the first stays. A document's part follows from
/// its id, the shares and the seed.
#[must_use]
pub fn make(classes: Vec<(String, Vec<Document>)>, options: &MakeOptions) -> Made {
    let mask = options.mask.then(|| mask(classes.iter().map(|(label, _)| label.as_str()), &options.words));
    let mut made = Made::default();
    let (mut labels, mut documents): (Vec<String>, Vec<Document>) = (Vec::new(), Vec::new());
    for (label, all) in classes {
        let (before, (least, most)) = (all.len(), options.words_each);
        let fits = |words: usize| words >= least.max(1) && (most == 0 || words <= most);
        let mut kept: Vec<Document> =
            all.into_iter().filter(|one| fits(one.source.split_whitespace().count())).collect();
        made.unfit += before - kept.len();
        if options.documents > 0 && kept.len() > options.documents {
            made.beyond += kept.len() - options.documents;
            let mut order: Vec<u64> = kept.iter().map(|one| chance(&one.id, options.shares.seed)).collect();
            order.sort_unstable();
            let last = order.get(options.documents - 1).copied().unwrap_or(u64::MAX);
            kept.retain(|one| chance(&one.id, options.shares.seed) <= last);
        }
        labels.extend(std::iter::repeat_n(label, kept.len()));
        documents.extend(kept);
    }
    let first = groups(&documents);
    let unique = distinct(documents.iter().map(|one| one.id.as_str()));
    for (at, (document, label)) in documents.iter().zip(labels).enumerate() {
        if first.get(at) != Some(&at) {
            made.copies += 1;
            continue;
        }
        let (text, count) = match &mask {
            Some(mask) => mask.apply(&document.source),
            None => (document.source.to_string(), 0),
        };
        made.masked += count;
        let id = if unique { document.id.clone() } else { format!("{label}/{}", document.id) };
        let format = Some(format_name(document).to_owned()).filter(|name| name != "plain");
        let split = Some(options.shares.part(&id));
        made.lines.push(ClassLine { id, label, format, split, text });
    }
    made
}

/// Takes out the names of classes: each as a whole, and of those with several parts the longer parts.
fn mask<'a>(labels: impl Iterator<Item = &'a str>, words: &[String]) -> Mask {
    let mut names: Vec<&str> = words.iter().map(String::as_str).collect();
    for label in labels {
        names.push(label);
        names.extend(label.split(|c: char| !c.is_alphanumeric()).filter(|part| part.chars().count() >= PART));
    }
    Mask::new(names)
}

/// By document, the first of those of which most stands in each other.
fn groups(documents: &[Document]) -> Vec<usize> {
    let whole: Vec<(usize, Span)> =
        documents.iter().enumerate().map(|(at, one)| (at, Span::new(0, one.source.len()))).collect();
    let found = copies(documents, &whole);
    let mut first: Vec<usize> = (0..documents.len()).collect();
    // Each names one other; the least number goes round until all have it.
    loop {
        let mut changed = false;
        for (at, copy) in found.iter().enumerate() {
            let Some(copy) = copy else { continue };
            let of = |at: usize| first.get(at).copied().unwrap_or(at);
            let least = of(at).min(of(copy.document));
            for place in [at, copy.document] {
                if let Some(known) = first.get_mut(place)
                    && *known > least
                {
                    *known = least;
                    changed = true;
                }
            }
        }
        if !changed {
            return first;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_read::{ReadOptions, read_text};

    use super::*;

    fn page(id: &str, text: &str) -> Document {
        read_text(id, "markdown", text, &ReadOptions::default()).unwrap()
    }

    fn text(seed: usize, words: usize) -> String {
        (0..words).map(|n| format!("w{} ", (seed * 7919 + n * (seed + 3)) % 5_000)).collect()
    }

    #[test]
    fn names_are_masked_and_copies_and_short_pages_left_out() {
        let long = |seed| text(seed, 120);
        let classes = vec![
            ("tea_pot".to_owned(), vec![page("tea_pot/a.md", &format!("# Tea pot\n\nBoil with teapot. {}", long(1)))]),
            (
                "kettle".to_owned(),
                vec![
                    page("kettle/a.md", &format!("# Kettle\n\nThe kettle-cli and Pfeife. {}", long(2))),
                    page("kettle/b.md", &format!("Once more: {}", long(1))),
                    page("kettle/c.md", "# Short"),
                ],
            ),
        ];
        let options =
            MakeOptions { mask: true, words: vec!["Pfeife".into()], words_each: (20, 500), ..MakeOptions::default() };
        let made = make(classes.clone(), &options);
        assert_eq!((made.lines.len(), made.copies, made.unfit, made.masked), (2, 1, 1, 5));
        let all: String = made.lines.iter().map(|line| line.text.to_lowercase()).collect();
        assert!(!all.contains("tea") && !all.contains("kettle") && !all.contains("pfeife"), "{all}");
        assert_eq!((made.lines[0].format.as_deref(), made.lines[1].label.as_str()), (Some("md"), "kettle"));
        assert!(made.lines.iter().all(|line| line.split == Some(options.shares.part(&line.id))));
        assert_eq!(made.left_out().len(), 2);
        let plain = make(classes, &MakeOptions { documents: 1, ..MakeOptions::default() });
        assert_eq!((plain.lines.len() + plain.copies, plain.beyond, plain.masked), (2, 2, 0));
    }
}
