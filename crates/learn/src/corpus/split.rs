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

/// A document beside those that are split, such as one that questions are asked about: it is neither counted nor limited, and goes with
/// its near copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// Its part as far as its own name says it.
    pub part: Split,
    /// What is compared to find its near copies.
    pub shingles: Shingles,
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
    split_beside(members, &[], options).map(|(division, _)| division)
}

/// The same with documents `beside`, whose parts are in the second part of the result: near copies go together on either side.
///
/// # Errors
/// As [`split()`].
pub fn split_beside(
    members: &[Member],
    beside: &[Beside],
    options: &SplitOptions,
) -> Result<(Division, Vec<Split>), CorpusError> {
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
    let groups = groups_of(members, beside);
    let mut together: BTreeMap<usize, (Split, usize)> = BTreeMap::new();
    let all = own.iter().map(|&part| (part, 1)).chain(beside.iter().map(|one| (one.part, 0)));
    for (&group, (part, counted)) in groups.iter().zip(all) {
        let (all, size) = together.entry(group).or_insert((part, 0));
        *all = strictest(*all, part);
        *size += counted;
    }
    let of_group = |group: &usize| together.get(group).map(|(part, _)| *part);
    let mut parts: Vec<Option<Split>> = groups.iter().take(members.len()).map(of_group).collect();
    let others: Vec<Split> = groups.iter().skip(members.len()).filter_map(of_group).collect();
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
    Ok((Division { parts, report }, others))
}

/// The groups of near copies, whatever the order of the documents: those of the members, then those beside them.
fn groups_of(members: &[Member], beside: &[Beside]) -> Vec<usize> {
    let own = members.iter().map(|one| (one.source.as_str(), one.id.as_str(), &one.shingles));
    let others = beside.iter().map(|one| ("", "", &one.shingles));
    let numbered = own.chain(others).enumerate();
    let mut order: Vec<_> = numbered.map(|(i, (source, id, shingles))| (source, id, shingles, i)).collect();
    order.sort();
    let shingles: Vec<&Shingles> = order.iter().map(|&(_, _, one, _)| one).collect();
    let mut found = vec![0; order.len()];
    for ((.., i), group) in order.iter().zip(groups(&shingles)) {
        if let Some(found) = found.get_mut(*i) {
            *found = group;
        }
    }
    found
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
mod tests;
