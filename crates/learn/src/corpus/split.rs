use std::collections::{BTreeMap, BTreeSet};

use pericope_segment::split::{Shares, Split};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::near::{Shingles, groups};
use super::{CorpusError, Record};

/// The unit that is chosen for a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Each document for itself.
    #[default]
    Document,
    /// All documents of a source together, so that the figures are of sources that were never seen.
    Source,
}

/// How documents are parted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitOptions {
    /// The unit that is chosen for a part.
    pub unit: Unit,
    /// What is kept apart where documents are held out: they alone, or all of their sources, as it is by default.
    pub held_out: Unit,
    /// The shares of the units.
    pub shares: Shares,
    /// Sentences of one source in each of training and validation, at most; 0 for no limit.
    pub cap_sentences: usize,
    /// Documents of one source in each of training and validation, at most; 0 for no limit.
    pub cap_documents: usize,
    /// Documents to train on, at most; 0 for no limit. A larger number holds the documents of a smaller one.
    pub documents: usize,
}

impl Default for SplitOptions {
    /// Single documents, a tenth to validate on and a tenth to test on, whole sources held out, no limits.
    fn default() -> Self {
        Self {
            unit: Unit::Document,
            held_out: Unit::Source,
            shares: Shares::default(),
            cap_sentences: 0,
            cap_documents: 0,
            documents: 0,
        }
    }
}

/// What the split knows of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The id.
    pub id: String,
    /// The name of its source.
    pub source: String,
    /// The number of its sentences.
    pub sentences: usize,
    /// True for a document that is kept apart: neither it nor a near copy of it is trained on, nor (by default) its source.
    pub held_out: bool,
    /// What is compared to find its near copies.
    pub shingles: Shingles,
}

impl Member {
    /// What the split needs of a document.
    #[must_use]
    pub fn of(record: &Record, held_out: bool) -> Self {
        let sentences = record.sentences.iter().map(String::as_str);
        Self {
            id: record.id.clone(),
            source: record.source.clone(),
            sentences: record.sentences.len(),
            held_out,
            shingles: Shingles::of(sentences),
        }
    }
}

/// Sources, documents and sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Different sources.
    pub sources: usize,
    /// Documents.
    pub documents: usize,
    /// Sentences.
    pub sentences: usize,
}

/// What a split did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SplitReport {
    /// All documents.
    pub all: Counts,
    /// Those to train on.
    pub train: Counts,
    /// Those to validate on.
    pub validation: Counts,
    /// Those to test on, with those held out.
    pub test: Counts,
    /// Those that were left out, since their source gave enough or enough documents train.
    pub left_out: Counts,
    /// Groups of near copies.
    pub groups: usize,
    /// Documents in them.
    pub near_copies: usize,
    /// Documents of the largest group.
    pub largest_group: usize,
    /// Documents that are in another part than they would be without near copies.
    pub moved: usize,
}

/// The part of each document; nothing for one that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Division {
    /// One a document, in the order in which they were given.
    pub parts: Vec<Option<Split>>,
    /// What came of it.
    pub report: SplitReport,
}

/// Parts documents into those to train on, to validate on and to test on.
///
/// A unit's part follows from its name, the shares and the seed ([`Shares::part`]). What is held out is tested on, and by
/// default all of its source. Near copies ([`groups`]) then go together: to the test where one of them is tested on, else to
/// validation where one of them is validated on. With the default shares of documents, what `segment-eval --split test`
/// chooses by the ids alone is therefore never trained on, nor a near copy of it. Last, what a source gives is limited, in an
/// order that the seed chooses.
///
/// The result does not depend on the order of the documents, nor on the number of threads.
///
/// # Errors
/// [`CorpusError::Options`] for shares that cannot be.
pub fn split(members: &[Member], options: &SplitOptions) -> Result<Division, CorpusError> {
    options.shares.check().map_err(CorpusError::Options)?;
    let apart = members.iter().filter(|one| one.held_out && options.held_out == Unit::Source);
    let sources_apart: BTreeSet<&str> = apart.map(|one| one.source.as_str()).filter(|name| !name.is_empty()).collect();
    let own = members.iter().map(|one| {
        let name = match options.unit {
            Unit::Document => &one.id,
            Unit::Source => &one.source,
        };
        let apart = one.held_out || sources_apart.contains(one.source.as_str());
        if apart { Split::Test } else { options.shares.part(name) }
    });
    let own: Vec<Split> = own.collect();
    let shingles: Vec<&Shingles> = members.iter().map(|one| &one.shingles).collect();
    let groups = groups(&shingles);
    let mut together: BTreeMap<usize, (Split, usize)> = BTreeMap::new();
    for (&group, &part) in groups.iter().zip(&own) {
        let (all, size) = together.entry(group).or_insert((part, 0));
        *all = strictest(*all, part);
        *size += 1;
    }
    let of_group = |group: &usize| together.get(group).map(|(part, _)| *part);
    let mut parts: Vec<Option<Split>> = groups.iter().map(of_group).collect();
    let moved = parts.iter().zip(&own).filter(|(part, own)| **part != Some(**own)).count();
    limit(members, options, &mut parts);
    let sizes = together.values().map(|(_, size)| *size).filter(|&size| size > 1);
    let report = SplitReport {
        all: count(members.iter()),
        train: count_part(members, &parts, Some(Split::Train)),
        validation: count_part(members, &parts, Some(Split::Validation)),
        test: count_part(members, &parts, Some(Split::Test)),
        left_out: count_part(members, &parts, None),
        groups: sizes.clone().count(),
        near_copies: sizes.clone().sum(),
        largest_group: sizes.max().unwrap_or(0),
        moved,
    };
    Ok(Division { parts, report })
}

/// The part of two near copies.
fn strictest(a: Split, b: Split) -> Split {
    if [a, b].contains(&Split::Test) {
        Split::Test
    } else if [a, b].contains(&Split::Validation) {
        Split::Validation
    } else {
        Split::Train
    }
}

/// Leaves out what is beyond the limits. Each part's documents are gone through in the order of a hash of their ids; of a
/// source they are taken up to the first that would be too much, but at least one.
fn limit(members: &[Member], options: &SplitOptions, parts: &mut [Option<Split>]) {
    let SplitOptions { cap_sentences, cap_documents, documents, shares, .. } = *options;
    let mut order: Vec<(u64, &str, &str, usize)> = (members.iter().enumerate())
        .map(|(i, one)| (chance(shares.seed, &one.id), one.source.as_str(), one.id.as_str(), i))
        .collect();
    order.sort_unstable();
    let mut given: BTreeMap<(&str, bool), (usize, usize, bool)> = BTreeMap::new();
    let mut trained = 0;
    for (_, source, _, i) in order {
        let (Some(one), Some(part)) = (members.get(i), parts.get_mut(i)) else { continue };
        let is_train = match part {
            Some(Split::Train) => true,
            Some(Split::Validation) => false,
            _ => continue,
        };
        let (found, sentences, full) = given.entry((source, is_train)).or_default();
        let too_many = |cap: usize, number: usize| cap > 0 && number > cap;
        if *found > 0 {
            *full |= too_many(cap_documents, *found + 1) || too_many(cap_sentences, *sentences + one.sentences);
        }
        if *full || (is_train && documents > 0 && trained == documents) {
            *part = None;
            continue;
        }
        *found += 1;
        *sentences += one.sentences;
        trained += usize::from(is_train);
    }
}

/// A number that the seed and the name choose.
pub(super) fn chance(seed: u64, name: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, name.as_bytes())
}

fn count_part(members: &[Member], parts: &[Option<Split>], part: Option<Split>) -> Counts {
    count(members.iter().zip(parts).filter(|(_, own)| **own == part).map(|(one, _)| one))
}

fn count<'a>(members: impl Iterator<Item = &'a Member>) -> Counts {
    let mut sources = BTreeSet::new();
    let mut counts = Counts::default();
    for one in members {
        sources.insert(one.source.as_str());
        counts.documents += 1;
        counts.sentences += one.sentences;
    }
    Counts { sources: sources.len(), ..counts }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_segment::split::{Shares, Split, split_of};
    use proptest::prelude::*;

    use super::{Division, Member, Shingles, SplitOptions, Unit, split};
    use crate::corpus::CorpusError;

    /// A document of `sentences` sentences, whose words are those of `text`: the same number, the same words.
    fn member(id: &str, source: &str, sentences: usize, text: u64) -> Member {
        let made: Vec<String> =
            (0..sentences).map(|i| (0..9).map(|w| format!("t{text}s{i}w{w}")).collect::<Vec<_>>().join(" ")).collect();
        let shingles = Shingles::of(made.iter().map(String::as_str));
        Member { id: id.to_owned(), source: source.to_owned(), sentences, held_out: false, shingles }
    }

    /// Documents of sources `s0` to `s9`, all different.
    fn members(count: usize) -> Vec<Member> {
        (0..count).map(|i| member(&format!("d{i}"), &format!("s{}", i % 10), 10 + i % 7, i as u64)).collect()
    }

    fn ids<'a>(members: &'a [Member], division: &Division, part: Option<Split>) -> Vec<&'a str> {
        let own = members.iter().zip(&division.parts).filter(|(_, own)| **own == part);
        own.map(|(one, _)| one.id.as_str()).collect()
    }

    #[test]
    fn without_near_copies_documents_are_parted_by_their_ids_as_ever() {
        let members = members(300);
        let division = split(&members, &SplitOptions::default()).unwrap();
        assert!(members.iter().zip(&division.parts).all(|(one, part)| *part == Some(split_of(&one.id))));
        let report = &division.report;
        assert_eq!((report.groups, report.near_copies, report.moved, report.left_out.documents), (0, 0, 0, 0));
        assert_eq!((report.all.documents, report.all.sources), (300, 10));
        let parts = [report.train, report.validation, report.test];
        assert_eq!(parts.iter().map(|part| part.documents).sum::<usize>(), 300);
        assert_eq!(parts.iter().map(|part| part.sentences).sum::<usize>(), report.all.sentences);
    }

    #[test]
    fn near_copies_go_together_to_the_stricter_side() {
        let name =
            |split: Split, from: usize| (from..).map(|i| format!("x{i}")).find(|id| split_of(id) == split).unwrap();
        let [train, validation, test] = [Split::Train, Split::Validation, Split::Test].map(|part| name(part, 0));
        let also = name(Split::Train, 1_000);
        let members = [
            member(&train, "a", 40, 1),
            member(&validation, "b", 40, 1),
            member(&also, "c", 40, 2),
            member(&test, "d", 40, 2),
            member("alone", "e", 40, 3),
        ];
        let division = split(&members, &SplitOptions::default()).unwrap();
        let [v, t] = [Some(Split::Validation), Some(Split::Test)];
        assert_eq!(division.parts, [v, v, t, t, Some(split_of("alone"))]);
        let report = division.report;
        assert_eq!((report.groups, report.near_copies, report.largest_group, report.moved), (2, 4, 2, 2));
    }

    #[test]
    fn what_is_held_out_is_never_trained_on_nor_its_source_nor_its_copies() {
        let mut members = members(50);
        members[3].held_out = true;
        members.push(member("copy", "s4", 13, 3));
        let options = SplitOptions { shares: Shares::NONE, ..SplitOptions::default() };
        let division = split(&members, &options).unwrap();
        for (one, part) in members.iter().zip(&division.parts) {
            let apart = one.source == "s3" || one.id == "copy";
            assert_eq!(*part, Some(if apart { Split::Test } else { Split::Train }), "{}", one.id);
        }
        let division = split(&members, &SplitOptions { held_out: Unit::Document, ..options }).unwrap();
        assert_eq!(ids(&members, &division, Some(Split::Test)), ["d3", "copy"]);
    }

    #[test]
    fn whole_sources_are_parted_by_their_names() {
        let members: Vec<Member> =
            (0..400).map(|i| member(&format!("d{i}"), &format!("s{}", i % 80), 10, i as u64)).collect();
        let shares = Shares { validation: 0.2, test: 0.2, seed: 5 };
        let division =
            split(&members, &SplitOptions { unit: Unit::Source, shares, ..SplitOptions::default() }).unwrap();
        assert!(members.iter().zip(&division.parts).all(|(one, part)| *part == Some(shares.part(&one.source))));
        let report = division.report;
        let sources = [report.train, report.validation, report.test].map(|part| part.sources);
        assert!(sources.iter().sum::<usize>() == 80 && sources.iter().all(|&n| n > 5), "{sources:?}");
    }

    #[test]
    fn a_source_gives_no_more_than_its_cap() {
        let members = members(400);
        let with = |cap_sentences, cap_documents, documents| {
            let options = SplitOptions { cap_sentences, cap_documents, documents, ..SplitOptions::default() };
            split(&members, &options).unwrap()
        };
        let full = with(0, 0, 0);
        let capped = with(100, 0, 0);
        for part in [Split::Train, Split::Validation] {
            for s in 0..10 {
                let of = |division: &Division| -> usize {
                    let own = members.iter().zip(&division.parts);
                    let own = own.filter(|(one, own)| **own == Some(part) && one.source == format!("s{s}"));
                    own.map(|(one, _)| one.sentences).sum()
                };
                assert!(of(&capped) <= 100 && of(&capped) >= of(&full).min(85), "s{s} {part}: {}", of(&capped));
            }
        }
        assert_eq!(capped.report.test, full.report.test);
        assert_eq!(with(0, 3, 0).report.train.documents, 30);
        // At least one document, however long.
        assert_eq!(with(1, 0, 0).report.train.documents, 10);
        // More holds less.
        let (small, large) = (with(0, 0, 20), with(0, 0, 90));
        let (small, large) = (ids(&members, &small, Some(Split::Train)), ids(&members, &large, Some(Split::Train)));
        assert_eq!((small.len(), large.len()), (20, 90));
        assert!(small.iter().all(|id| large.contains(id)));
        let (small, large) = (with(60, 0, 0), with(200, 0, 0));
        let large = ids(&members, &large, Some(Split::Train));
        assert!(ids(&members, &small, Some(Split::Train)).iter().all(|id| large.contains(id)));
    }

    #[test]
    fn shares_that_cannot_be_are_refused() {
        let shares = Shares { validation: 0.9, test: 0.9, seed: 0 };
        let error = split(&[], &SplitOptions { shares, ..SplitOptions::default() }).unwrap_err();
        assert!(matches!(error, CorpusError::Options(_)));
        assert_eq!(split(&[], &SplitOptions::default()).unwrap().parts, []);
    }

    proptest! {
        #[test]
        fn the_order_of_documents_changes_nothing(
            order in Just((0..60usize).collect::<Vec<_>>()).prop_shuffle(),
            seed in 0u64..5,
            cap_sentences in 0usize..80,
            by_source in any::<bool>(),
        ) {
            // Every fifth is a copy of the one before.
            let members: Vec<Member> = (0..60usize).map(|i| {
                let text = if i % 5 == 4 { i - 1 } else { i };
                member(&format!("d{i}"), &format!("s{}", i % 7), 12, text as u64)
            }).collect();
            let unit = if by_source { Unit::Source } else { Unit::Document };
            let shares = Shares { seed, ..Shares::default() };
            let options = SplitOptions { unit, shares, cap_sentences, ..SplitOptions::default() };
            let straight = split(&members, &options).unwrap();
            let shuffled: Vec<Member> = order.iter().map(|&i| members[i].clone()).collect();
            let shuffled = split(&shuffled, &options).unwrap();
            prop_assert_eq!(&shuffled.report, &straight.report);
            for (part, &i) in shuffled.parts.iter().zip(&order) {
                prop_assert_eq!(part, &straight.parts[i]);
            }
            for i in (4..60).step_by(5) {
                let (a, b) = (straight.parts[i - 1], straight.parts[i]);
                prop_assert!(a.is_none() || b.is_none() || a == b, "{a:?} {b:?}");
            }
        }
    }
}
