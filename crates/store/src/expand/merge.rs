//! Sections, and stretches of them, most of whose chunks were found.

use std::ops::Range;

use super::page::Page;

/// Found chunks that stand together, and the innermost section of one of them.
#[derive(Debug, Clone)]
struct Stretch {
    range: Range<usize>,
    home: Range<usize>,
}

/// The runs that take the place of the hits in them, without overlap.
pub(super) fn merged(page: &Page<'_>) -> Vec<Range<usize>> {
    let mut is_found = vec![false; page.parts.len()];
    let hits: Vec<usize> = page.found.iter().filter(|one| one.weight.is_some()).map(|one| one.part).collect();
    hits.iter().for_each(|&at| is_found[at] = true);
    let is_most = |range: &Range<usize>| {
        let found = is_found[range.clone()].iter().filter(|found| **found).count();
        found > 1 && found * 2 > range.len() && page.fits(range)
    };
    let mut sections: Vec<Range<usize>> = Vec::new();
    let mut alone: Vec<Stretch> = Vec::new();
    for &at in &hits {
        if sections.iter().any(|section| section.contains(&at)) {
            continue;
        }
        // Sections lie in each other: the coarsest of another hit is this one, or apart from it.
        match page.sections(at).find(&is_most) {
            Some(section) => sections.push(section),
            None => alone.push(Stretch { range: at..at + 1, home: page.innermost(at) }),
        }
    }
    alone.retain(|one| !sections.iter().any(|section| section.contains(&one.range.start)));
    alone.sort_by_key(|one| one.range.start);
    // The nearest two that may join do, until none may.
    loop {
        let joined = |pair: &[Stretch]| {
            let [one, other] = pair else { return None };
            let range = one.range.start..other.range.end;
            let is_in = |home: &Range<usize>| home.start <= range.start && range.end <= home.end;
            let home = [&one.home, &other.home].into_iter().find(|home| is_in(home))?.clone();
            let is_free = |section: &Range<usize>| section.end <= range.start || range.end <= section.start;
            (is_most(&range) && sections.iter().all(is_free)).then_some(Stretch { range, home })
        };
        let pairs = alone.windows(2).enumerate().filter_map(|(at, pair)| {
            let gap = pair.get(1)?.range.start - pair.first()?.range.end;
            Some((gap, at, joined(pair)?))
        });
        let Some((_, at, stretch)) = pairs.min_by_key(|(gap, at, _)| (*gap, *at)) else { break };
        alone.splice(at..at + 2, [stretch]);
    }
    sections.extend(alone.into_iter().map(|one| one.range));
    sections
}
