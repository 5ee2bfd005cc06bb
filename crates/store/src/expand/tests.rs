#![allow(clippy::unwrap_used)]
use pericope_api::Span;
use proptest::prelude::*;

use super::*;

/// Chunks of ten tokens and ten bytes each, one after the other, below headings as `A/B` says.
fn page(paths: &[&str]) -> Vec<Part> {
    let part = |(at, path): (usize, &&str)| Part {
        span: Span::new(at * 10, at * 10 + 10),
        tokens: 10,
        heading_path: path.split('/').filter(|heading| !heading.is_empty()).map(Into::into).collect(),
    };
    paths.iter().enumerate().map(part).collect()
}

/// The hits at these places, best first.
fn hits(places: &[usize]) -> Vec<Found> {
    let ranked = places.iter().zip(rank_weights(evidence_depth(0))).enumerate();
    ranked.map(|(rank, (&part, weight))| Found { rank, part, weight }).collect()
}

/// First and last chunk of each run.
fn ends(parts: &[Part], places: &[usize], expand: Expand, tokens: usize) -> Vec<(usize, usize)> {
    let runs = runs(parts, &hits(places), Expansion { expand, tokens });
    runs.iter().map(|run| (run.parts[0], *run.parts.last().unwrap())).collect()
}

const GUIDE: [&str; 9] = ["G", "G/A", "G/A", "G/A/X", "G/A/X", "G/A/Y", "G/B", "G/B", "G/C"];

#[test]
fn a_parent_is_the_coarsest_section_that_fits() {
    let guide = page(&GUIDE);
    let parent = |place, tokens| ends(&guide, &[place], Expand::Parent, tokens)[0];
    assert_eq!(parent(3, 90), (0, 8), "all of the document");
    assert_eq!(parent(3, 89), (1, 5), "section A");
    assert_eq!(parent(3, 49), (3, 4), "section X");
    assert_eq!(parent(6, 49), (6, 7));
    // No section fits: what is around it in the innermost one.
    assert_eq!(parent(2, 30), (1, 3));
    assert_eq!(parent(1, 30), (1, 3));
    assert_eq!(parent(3, 10), (3, 3));
    assert_eq!(parent(3, 3), (3, 3), "it is larger than the budget by itself");
}

#[test]
fn without_headings_a_window_grows_around_the_chunk() {
    let plain = page(&[""; 9]);
    assert_eq!(ends(&plain, &[4], Expand::Parent, 50), [(2, 6)]);
    assert_eq!(ends(&plain, &[4], Expand::Parent, 45), [(3, 6)], "the last one is behind it");
    assert_eq!(ends(&plain, &[0], Expand::Parent, 30), [(0, 2)]);
    assert_eq!(ends(&plain, &[8], Expand::Parent, 30), [(6, 8)]);
    // The second hit is in the window of the first; the third has what is left.
    assert_eq!(ends(&plain, &[4, 5, 7], Expand::Parent, 50), [(2, 6), (7, 8)]);
    assert_eq!(ends(&plain, &[4, 5, 7], Expand::Parent, 90), [(0, 8)]);
    // A large neighbour does not keep away the other one.
    let mut uneven = plain.clone();
    uneven[5].tokens = 100;
    assert_eq!(ends(&uneven, &[4], Expand::Parent, 50), [(0, 4)]);
}

#[test]
fn neighbours_stop_at_the_document_and_at_the_budget() {
    let plain = page(&["A", "A", "B", "B", "C"]);
    assert_eq!(ends(&plain, &[1], Expand::Neighbours(1), 512), [(0, 2)]);
    assert_eq!(ends(&plain, &[0], Expand::Neighbours(2), 512), [(0, 2)]);
    assert_eq!(ends(&plain, &[2], Expand::Neighbours(9), 512), [(0, 4)]);
    assert_eq!(ends(&plain, &[2], Expand::Neighbours(9), 25), [(2, 3)]);
    assert_eq!(ends(&plain, &[1, 3], Expand::Neighbours(1), 512), [(0, 2), (3, 4)], "nothing twice");
    assert_eq!(ends(&plain, &[1, 3], Expand::None, 1), [(1, 1), (3, 3)]);
}

#[test]
fn a_section_takes_the_place_of_most_of_its_chunks() {
    let guide = page(&GUIDE);
    let merge = |places: &[usize], tokens| ends(&guide, places, Expand::Merge, tokens);
    // Three of the five chunks of A; both of B; one of X's two, which is not most of them.
    assert_eq!(merge(&[2, 8, 5, 3], 512), [(1, 5), (8, 8)]);
    assert_eq!(merge(&[7, 3, 6], 512), [(6, 7), (3, 3)]);
    assert_eq!(merge(&[3], 512), [(3, 3)]);
    assert_eq!(merge(&[0, 1, 3, 6, 7], 512), [(0, 8)], "five of nine");
    // A does not fit, X does.
    assert_eq!(merge(&[5, 3, 4], 49), [(5, 5), (3, 4)]);
    // Those that stand near each other in a section that is none as a whole.
    let long = page(&[""; 12]);
    let merge = |places: &[usize], tokens| ends(&long, places, Expand::Merge, tokens);
    assert_eq!(merge(&[9, 3, 1], 512), [(9, 9), (1, 3)], "two of three");
    assert_eq!(merge(&[9, 4, 1], 512), [(9, 9), (4, 4), (1, 1)], "two of four");
    assert_eq!(merge(&[5, 3, 2], 512), [(2, 5)]);
    assert_eq!(merge(&[5, 3, 2], 30), [(5, 5), (2, 3)]);
    // Not over the headings between them.
    assert_eq!(ends(&page(&["A", "A", "A", "B", "B", "B"]), &[2, 3], Expand::Merge, 512), [(2, 2), (3, 3)]);
    // Hits that are too far down are no evidence, and go with what they are in.
    let far = |places: &[usize]| {
        let mut found = hits(places);
        found[2].weight = None;
        let runs = runs(&long, &found, Expansion { expand: Expand::Merge, tokens: 512 });
        runs.iter().map(|run| (run.rank, run.parts.clone())).collect::<Vec<_>>()
    };
    assert_eq!(far(&[1, 3, 5]), [(0, vec![1, 2, 3]), (2, vec![5])]);
    assert_eq!(far(&[1, 3, 2]), [(0, vec![1, 2, 3])]);
}

#[test]
fn overlapping_chunks_are_given_once() {
    // Each begins five bytes before the last one ends.
    let parts: Vec<Part> = (0..6)
        .map(|at| Part { span: Span::new(at * 10, at * 10 + 15), tokens: 10, heading_path: Vec::new() })
        .collect();
    let spans = |places: &[usize], expand| {
        let runs = runs(&parts, &hits(places), Expansion { expand, tokens: 30 });
        runs.iter().map(|run| (run.span.start, run.span.end)).collect::<Vec<_>>()
    };
    assert_eq!(spans(&[1, 4], Expand::Neighbours(1)), [(0, 35), (35, 65)]);
    assert_eq!(spans(&[4, 1], Expand::Neighbours(1)), [(30, 65), (0, 30)]);
    assert_eq!(spans(&[0, 1, 2], Expand::None), [(0, 15), (15, 25), (25, 35)]);
    // A chunk that lies in two others.
    assert_eq!(spans(&[0, 2, 1], Expand::None), [(0, 15), (20, 35), (15, 20)]);
    let twice = [parts[0].clone(), Part { span: Span::new(3, 9), ..parts[0].clone() }];
    let one = runs(&twice, &hits(&[0, 1]), Expansion { expand: Expand::None, tokens: 30 });
    assert_eq!(one.len(), 1, "its text is there already");
}

#[test]
fn chunks_may_be_listed_in_any_order() {
    let mut guide = page(&GUIDE);
    let straight = runs(&guide, &hits(&[3, 7]), Expansion { expand: Expand::Parent, tokens: 50 });
    guide.reverse();
    let reversed = runs(&guide, &hits(&[5, 1]), Expansion { expand: Expand::Parent, tokens: 50 });
    assert_eq!(reversed[0].parts, [7, 6, 5, 4, 3]);
    for (one, other) in straight.iter().zip(&reversed) {
        assert_eq!((one.span, one.tokens, one.rank), (other.span, other.tokens, other.rank));
    }
}

prop_compose! {
    fn document()(
        made in prop::collection::vec((1_usize..60, 0_usize..4, 0_usize..20, prop::collection::vec(0_u8..3, 0..4)), 1..40),
        picked in prop::collection::vec(any::<prop::sample::Index>(), 1..30),
        nearer in 0_usize..20,
    ) -> (Vec<Part>, Vec<Found>) {
        let mut at = 0;
        let parts: Vec<Part> = made.into_iter().map(|(length, gap, overlap, path)| {
            // Some begin within the one before; of these, the short ones end in it too.
            let start = if overlap > 15 { at.max(overlap) - overlap } else { at + gap };
            at = (start + length).max(at);
            let heading_path = path.into_iter().map(|heading| format!("h{heading}").into()).collect();
            Part { span: Span::new(start, start + length), tokens: length, heading_path }
        }).collect();
        let mut places: Vec<usize> = picked.into_iter().map(|place| place.index(parts.len())).collect();
        let mut seen = std::collections::HashSet::new();
        places.retain(|place| seen.insert(*place));
        let weights = rank_weights(nearer);
        let found = places.iter().zip(weights).enumerate()
            .map(|(rank, (&part, weight))| Found { rank: rank * 2, part, weight }).collect();
        (parts, found)
    }
}

fn expansion() -> impl Strategy<Value = Expansion> {
    let expand = prop_oneof![
        Just(Expand::None),
        Just(Expand::Parent),
        Just(Expand::Merge),
        (1_usize..6).prop_map(Expand::Neighbours),
        Just(Expand::Segment),
    ];
    (expand, 1_usize..400).prop_map(|(expand, tokens)| Expansion { expand, tokens })
}

proptest! {
    /// What holds for every expansion.
    #[test]
    fn runs_fit_and_have_nothing_in_common((parts, found) in document(), expansion in expansion()) {
        let runs = runs(&parts, &found, expansion);
        prop_assert!(!runs.is_empty());
        prop_assert!(runs.windows(2).all(|pair| pair[0].rank < pair[1].rank));
        let mut owners = vec![0; parts.len()];
        let mut bytes = std::collections::HashSet::new();
        for run in &runs {
            let best = found.iter().find(|one| one.rank == run.rank).unwrap();
            prop_assert!(run.parts.contains(&best.part));
            prop_assert_eq!(run.tokens, run.parts.iter().map(|&at| parts[at].tokens).sum::<usize>());
            prop_assert!(run.tokens <= expansion.tokens || run.parts.len() == 1, "{:?}", run);
            prop_assert!(!run.span.is_empty());
            for &at in &run.parts {
                owners[at] += 1;
                prop_assert!(parts[at].span.intersection(&run.span).is_some());
            }
            prop_assert!((run.span.start..run.span.end).all(|byte| bytes.insert(byte)), "no byte twice");
        }
        prop_assert!(owners.iter().all(|&n| n <= 1), "no chunk twice");
        // Each hit is given, by itself or in a better one's run. Of a chunk around another one, the beginning may be all.
        let nested = parts.windows(2).any(|pair| pair[1].span.start < pair[0].span.start || pair[1].span.end < pair[0].span.end);
        for one in &found {
            let span = parts[one.part].span;
            let given = (span.start..span.end).filter(|byte| bytes.contains(byte)).count();
            prop_assert!(given == span.len() || nested && given > 0, "{:?} of {:?}", one, runs);
        }
    }

    /// A longer ranking adds to what a shorter one gives.
    #[test]
    fn hits_further_down_change_nothing((parts, mut found) in document(), expansion in expansion(), kept in 0_usize..20) {
        found.iter_mut().skip(kept).for_each(|one| one.weight = None);
        let all = runs(&parts, &found, expansion);
        let first = runs(&parts, &found[..found.len().min(kept.max(1))], expansion);
        prop_assert_eq!(&all[..first.len()], &first[..]);
    }

    /// No other run around the best hit weighs more.
    #[test]
    fn a_segment_is_the_best_of_all((parts, found) in document(), tokens in 1_usize..400) {
        let runs = runs(&parts, &found, Expansion { expand: Expand::Segment, tokens });
        let mut order: Vec<usize> = (0..parts.len()).collect();
        order.sort_by_key(|&at| (parts[at].span.start, parts[at].span.end));
        let value = |at: usize| {
            found.iter().find(|one| one.part == at).and_then(|one| one.weight).unwrap_or(0.0) - segment::PENALTY
        };
        let best = order.iter().position(|&at| at == found[0].part).unwrap();
        let given: f64 = runs[0].parts.iter().map(|&at| value(at)).sum();
        for first in 0..=best {
            for last in best..order.len() {
                let window = &order[first..=last];
                if window.iter().map(|&at| parts[at].tokens).sum::<usize>() <= tokens {
                    prop_assert!(window.iter().map(|&at| value(at)).sum::<f64>() <= given + 1e-9);
                }
            }
        }
    }

    /// Neighbours are near, parents share headings.
    #[test]
    fn runs_are_what_they_are_called((parts, found) in document(), reach in 1_usize..5, tokens in 1_usize..400) {
        let of = |expand| runs(&parts, &found, Expansion { expand, tokens });
        for run in of(Expand::Neighbours(reach)) {
            prop_assert!(run.parts.len() <= 2 * reach + 1);
        }
        let whole = parts.iter().map(|part| part.tokens).sum::<usize>() <= tokens;
        prop_assert!(!whole || of(Expand::Parent).len() == 1);
    }
}
