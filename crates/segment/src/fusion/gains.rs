use pericope_api::Document;
use rayon::prelude::*;

use super::word_costs::WordCosts;

/// What the words around each gap gain by a boundary there, in nats: the description length of the window as one segment minus that of
/// its two halves, each under the word model of [`Fusion`](super::Fusion). Above 0 the two sides speak of different things.
///
/// For n sentences that are [language](crate::language::sentences), the n - 1 gaps between neighbours in order, each with one number for
/// each of `windows`: a window of w looks at up to w sentences on either side. Time O(n * sum of the windows).
///
/// The model is that of Eisenstein and Barzilay (2008), with the document's own word frequencies as the prior.
///
/// ```
/// use pericope_api::Document;
/// use pericope_segment::fusion::word_gains;
///
/// let document = Document::from_sentences(
///     "d",
///     &["Ships sail the sea.", "Ships and sails.", "Sea and sails.", "Bread of rye dough.", "Rye bread rises.", "Dough rises."],
/// );
/// let gains: Vec<f32> = word_gains(&document, &[3]).into_iter().flatten().collect();
/// let best = gains.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(gap, _)| gap);
/// assert_eq!(best, Some(2));
/// assert!(gains[2] > 0.0);
/// ```
#[must_use]
pub fn word_gains(document: &Document, windows: &[usize]) -> Vec<Vec<f32>> {
    let model = WordCosts::of(document);
    let n = model.sentences();
    (1..n)
        .into_par_iter()
        .map_init(
            || model.counts(),
            |counts, gap| {
                let sides = |&window: &usize| gap.saturating_sub(window)..(gap + window).min(n);
                windows.iter().map(|window| model.gain(sides(window), gap, counts) as f32).collect()
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use pericope_api::{Document, Kind};

    use super::word_gains;

    #[test]
    fn a_window_is_cut_off_at_the_ends_of_the_document() {
        let sentences = ["Ships sail.", "Ships sink.", "Bread rises.", "Bread bakes."];
        let document = Document::from_sentences("d", &sentences);
        let (wide, endless) = (word_gains(&document, &[4]), word_gains(&document, &[usize::MAX / 2]));
        assert_eq!(wide, endless);
        assert_eq!(wide.len(), 3);
        assert!(wide[1][0] > wide[0][0] && wide[1][0] > wide[2][0], "{wide:?}");
    }

    #[test]
    fn what_is_no_language_has_no_gap() {
        let mut document = Document::from_sentences("d", &["Ships sail.", "x = y", "Bread rises."]);
        document.sentences[1].kind = Kind::Code;
        let plain = Document::from_sentences("d", &["Ships sail.", "Bread rises."]);
        assert_eq!(word_gains(&document, &[1, 2]), word_gains(&plain, &[1, 2]));
        assert!(word_gains(&Document::from_sentences("d", &["One."]), &[1]).is_empty());
        assert!(word_gains(&Document::from_sentences::<&str>("d", &[]), &[1]).is_empty());
    }

    #[test]
    fn texts_without_words_gain_nothing() {
        let document = Document::from_sentences("d", &["1", "2", "3"]);
        assert_eq!(word_gains(&document, &[1]), [[0.0], [0.0]]);
    }
}
