#![allow(clippy::unwrap_used)]

use pericope_segment::split::{Shares, Split, split_of};
use proptest::prelude::*;

use super::{Beside, Division, Member, Shingles, SplitOptions, Unit, split, split_beside};
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
    let name = |split: Split, from: usize| (from..).map(|i| format!("x{i}")).find(|id| split_of(id) == split).unwrap();
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
fn documents_beside_go_with_their_near_copies_and_are_not_counted() {
    let name = |split: Split, from: usize| (from..).map(|i| format!("x{i}")).find(|id| split_of(id) == split).unwrap();
    let [train, test, also] =
        [(Split::Train, 0), (Split::Test, 0), (Split::Train, 1_000)].map(|(part, i)| name(part, i));
    let members = [member(&train, "a", 40, 1), member(&test, "b", 40, 2), member(&also, "c", 40, 3)];
    let beside = [(Split::Train, 2), (Split::Test, 3), (Split::Train, 4)];
    let beside = beside.map(|(part, text)| Beside { part, shingles: member("", "", 40, text).shingles });
    let (division, others) = split_beside(&members, &beside, &SplitOptions::default()).unwrap();
    assert_eq!(others, [Split::Test, Split::Test, Split::Train]);
    assert_eq!(division.parts, [Split::Train, Split::Test, Split::Test].map(Some));
    let report = division.report;
    assert_eq!((report.all.documents, report.groups, report.near_copies, report.moved), (3, 0, 0, 1));
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
    let division = split(&members, &SplitOptions { unit: Unit::Source, shares, ..SplitOptions::default() }).unwrap();
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
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_order_changes_no_group_of_many_that_share_a_page(
        order in Just((0..60usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        // A page of 30 sentences in all of them, and as much again or more that is their own: some are near copies.
        let members: Vec<Member> = (0..60usize).map(|i| {
            let own = (0..30 + i).map(|s| (0..9).map(|w| format!("t{i}s{s}w{w}")).collect::<Vec<_>>().join(" "));
            let page = (0..30).map(|s| (0..9).map(|w| format!("page{s}w{w}")).collect::<Vec<_>>().join(" "));
            let texts: Vec<String> = page.chain(own).collect();
            let shingles = Shingles::of(texts.iter().map(String::as_str));
            Member { shingles, ..member(&format!("d{i}"), "s", 1, 0) }
        }).collect();
        let straight = split(&members, &SplitOptions::default()).unwrap();
        prop_assert!(straight.report.largest_group > 1 && straight.report.largest_group < 60);
        let shuffled: Vec<Member> = order.iter().map(|&i| members[i].clone()).collect();
        let shuffled = split(&shuffled, &SplitOptions::default()).unwrap();
        prop_assert_eq!(&shuffled.report, &straight.report);
        for (part, &i) in shuffled.parts.iter().zip(&order) {
            prop_assert_eq!(part, &straight.parts[i]);
        }
    }
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
