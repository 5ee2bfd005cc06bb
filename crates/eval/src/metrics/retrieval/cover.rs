//! Unions of spans in one document.

use pericope_api::Span;

/// The union of spans: in order, apart, none empty.
pub(super) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| !span.is_empty());
    spans.sort_unstable();
    let mut union: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match union.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => union.push(span),
        }
    }
    union
}

/// Sum of the lengths.
pub(super) fn length(spans: &[Span]) -> usize {
    spans.iter().map(Span::len).sum()
}

/// Units of `span` inside a union (as [`merged`] returns it).
pub(super) fn overlap(union: &[Span], span: Span) -> usize {
    let first = union.partition_point(|other| other.end <= span.start);
    let inside = union[first..].iter().take_while(|other| other.start < span.end);
    inside.filter_map(|other| other.intersection(&span)).map(|common| common.len()).sum()
}

/// Takes `span` out of a union.
pub(super) fn subtract(union: &mut Vec<Span>, span: Span) {
    if overlap(union, span) == 0 {
        return;
    }
    let pieces = union.iter().flat_map(|other| {
        let left = Span::new(other.start, other.end.min(span.start));
        let right = Span::new(other.start.max(span.end), other.end);
        if other.intersection(&span).is_none() { [*other, Span::new(0, 0)] } else { [left, right] }
    });
    *union = pieces.filter(|piece| !piece.is_empty()).collect();
}

#[cfg(test)]
mod tests {
    use pericope_api::Span;

    use super::{merged, overlap, subtract};

    fn spans(list: &[(usize, usize)]) -> Vec<Span> {
        list.iter().map(|&(start, end)| Span::new(start, end)).collect()
    }

    #[test]
    fn touching_spans_become_one() {
        assert_eq!(merged(spans(&[(5, 8), (1, 3), (3, 5), (9, 9), (10, 12), (6, 7)])), spans(&[(1, 8), (10, 12)]));
    }

    #[test]
    fn subtraction_splits_and_trims() {
        let mut union = spans(&[(0, 10), (20, 30), (40, 50)]);
        assert_eq!(overlap(&union, Span::new(5, 25)), 10);
        subtract(&mut union, Span::new(5, 25));
        assert_eq!(union, spans(&[(0, 5), (25, 30), (40, 50)]));
        subtract(&mut union, Span::new(42, 44));
        subtract(&mut union, Span::new(30, 40));
        assert_eq!(union, spans(&[(0, 5), (25, 30), (40, 42), (44, 50)]));
        subtract(&mut union, Span::new(0, 100));
        assert!(union.is_empty());
    }
}
