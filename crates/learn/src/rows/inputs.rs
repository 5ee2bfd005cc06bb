use std::ops::Range;

use pericope_api::{Document, Kind};
use pericope_segment::fusion::word_gains;
use pericope_segment::language;

use super::cues::{CUES, cues};

/// Sentences on either side of a gap over which mean vectors are compared.
const MEANS: [usize; 3] = [2, 4, 8];

/// Sentences on either side of a gap whose words are compared.
const WORDS: [usize; 4] = [2, 4, 8, 16];

/// Numbers about a sentence's own text.
const OWN: usize = 8;

/// Of these, whether it ends as a sentence does, whether with a mark after which one goes on, and whether it is known to be a heading.
const ENDS: usize = 2;
const GOES_ON: usize = 3;
const HEADING: usize = OWN - 1;

/// Cosines at a gap.
const COSINES: usize = 1 + MEANS.len();

/// Numbers about the gap behind a sentence.
const GAP: usize = COSINES + WORDS.len() + 2;

/// Share of sentences that end with a mark up to which a text counts as one without marks.
const UNMARKED: f32 = 0.05;

/// Numbers a sentence beside its vector.
pub const NUMBERS: usize = OWN + GAP;

/// Where each kind of numbers stands among those beside a sentence's vector.
pub(crate) mod places {
    use std::ops::Range;

    use super::{COSINES, NUMBERS, OWN, WORDS};

    pub(crate) const FORM: Range<usize> = 0..OWN;
    pub(crate) const COSINE: Range<usize> = OWN..OWN + COSINES;
    pub(crate) const WORD: Range<usize> = COSINE.end..COSINE.end + WORDS.len();
    pub(crate) const PARAGRAPH: Range<usize> = WORD.end..NUMBERS;
}

/// What a sequence model reads of a document, or of a part of it: a row for each sentence that is language.
///
/// A row is the sentence's vector, then numbers about its text, then numbers about the gap behind it (0 behind the last
/// sentence): the cosine of the two vectors beside the gap; the cosines of the mean vectors of 2, 4 and 8 sentences on either
/// side; what the words of 2, 4, 8 and 16 sentences on either side gain by a boundary ([`word_gains`]); and whether
/// paragraphs are known, and whether one ends there.
///
/// Beside the rows stand the cues of each sentence: numbers of the words that it begins and ends with, for models that look them up.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    dimension: usize,
    sentences: Vec<usize>,
    rows: Vec<f32>,
    cues: Vec<[u32; CUES]>,
}

impl Inputs {
    /// Reads a document whose sentences that are language ([`language::sentences`]) have these `vectors`, row by row, each of
    /// `dimension` numbers and norm 1. `None` where there are not as many.
    #[must_use]
    pub fn new(document: &Document, vectors: &[f32], dimension: usize) -> Option<Self> {
        let facts = Facts::of(document).with_cues(document);
        facts.inputs(0..facts.sentences().len(), vectors, dimension)
    }

    /// Numbers of a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.dimension + NUMBERS
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sentences.len()
    }

    /// True where there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sentences.is_empty()
    }

    /// The indices of the document's sentences that the rows are of.
    #[must_use]
    pub fn sentences(&self) -> &[usize] {
        &self.sentences
    }

    /// The vectors of the sentences, row by row, and the numbers of each.
    pub(crate) fn vectors(&self) -> (Vec<f32>, usize) {
        let rows = self.rows.chunks_exact(self.width());
        (rows.flat_map(|row| row.iter().take(self.dimension).copied()).collect(), self.dimension)
    }

    /// The rows, one after the other.
    #[must_use]
    pub fn rows(&self) -> &[f32] {
        &self.rows
    }

    /// The cues of each row.
    pub(crate) fn cues(&self) -> &[[u32; CUES]] {
        &self.cues
    }

    pub(crate) fn into_rows(self) -> Vec<f32> {
        self.rows
    }
}

/// What is known of a document without its vectors: of each sentence that is language the numbers of its row, the cosines at 0, and its
/// cues where they are asked for.
pub(crate) struct Facts {
    sentences: Vec<usize>,
    numbers: Vec<[f32; NUMBERS]>,
    cues: Vec<[u32; CUES]>,
}

impl Facts {
    pub(crate) fn of(document: &Document) -> Self {
        let sentences = language::sentences(document);
        let n = sentences.len();
        let found = |i: usize| sentences.get(i).and_then(|&sentence| document.sentences.get(sentence));
        let paragraph = |i: usize| found(i).map(|sentence| sentence.paragraph);
        let ends: Vec<bool> = (1..n).map(|i| paragraph(i - 1) != paragraph(i)).collect();
        // Where every sentence is a paragraph, as in a list of sentences, paragraphs say nothing.
        let known = ends.contains(&false);
        let gains = word_gains(document, &WORDS);
        let mut forms: Vec<[f32; OWN]> =
            (0..n).filter_map(found).map(|sentence| own(&document.visible(sentence.span), sentence.kind)).collect();
        assume_marks(&mut forms);
        let row = |i: usize| {
            let mut row = [0.0; NUMBERS];
            let (text, gap) = row.split_at_mut(OWN);
            if let Some(form) = forms.get(i) {
                text.copy_from_slice(form);
            }
            if let (Some(gains), Some(&ended)) = (gains.get(i), ends.get(i)) {
                let gains = gains.iter().map(|gain| (gain / 4.0).asinh());
                let paragraphs = [f32::from(u8::from(known)), f32::from(u8::from(known && ended))];
                let beside = gap.iter_mut().skip(COSINES);
                beside.zip(gains.chain(paragraphs)).for_each(|(number, value)| *number = value);
            }
            row
        };
        Self { numbers: (0..n).map(row).collect(), sentences, cues: Vec::new() }
    }

    /// The same with the cues of each sentence of that document, for models that read them.
    pub(crate) fn with_cues(self, document: &Document) -> Self {
        let sentences = self.sentences.iter().filter_map(|&sentence| document.sentences.get(sentence));
        let cues = sentences.map(|sentence| cues(&document.visible(sentence.span))).collect();
        Self { cues, ..self }
    }

    /// The indices of the document's sentences that are language.
    pub(crate) fn sentences(&self) -> &[usize] {
        &self.sentences
    }

    /// The numbers of each row, the cosines at 0.
    pub(crate) fn into_numbers(self) -> Vec<[f32; NUMBERS]> {
        self.numbers
    }

    /// The sentences, of those that are language, whose vectors the rows of `range` are made of.
    pub(crate) fn reach(&self, range: &Range<usize>) -> Range<usize> {
        let most = MEANS.into_iter().max().unwrap_or(1);
        range.start.saturating_sub(most - 1)..(range.end + most).min(self.sentences.len())
    }

    /// The rows of the sentences `range` of those that are language; `vectors` are those of all that they
    /// [are made of](Self::reach). `None` where these are not as many.
    pub(crate) fn inputs(&self, range: Range<usize>, vectors: &[f32], dimension: usize) -> Option<Inputs> {
        let reach = self.reach(&range);
        if dimension == 0 || vectors.len() != reach.len() * dimension {
            return None;
        }
        let vectors: Vec<&[f32]> = vectors.chunks_exact(dimension).collect();
        let sums = Sums::of(&vectors);
        let mut rows = Vec::with_capacity(range.len() * (dimension + NUMBERS));
        for i in range.clone() {
            rows.extend_from_slice(vectors.get(i - reach.start)?);
            let mut numbers = *self.numbers.get(i)?;
            if i + 1 < self.sentences.len() {
                let cosines = [1].iter().chain(&MEANS).map(|&window| sums.cosine(i + 1 - reach.start, window));
                numbers.iter_mut().skip(OWN).zip(cosines).for_each(|(number, cosine)| *number = cosine);
            }
            rows.extend(numbers);
        }
        let cues = self.cues.get(range.clone()).unwrap_or_default().to_vec();
        Some(Inputs { dimension, sentences: self.sentences.get(range)?.to_vec(), rows, cues })
    }
}

/// Numbers about a sentence's text: how long it is, how it begins and ends, whether it is known to be a heading.
fn own(text: &str, kind: Kind) -> [f32; OWN] {
    let flag = |is: bool| f32::from(u8::from(is));
    let text = text.trim();
    let last = text.trim_end_matches(['"', '\'', ')', ']', '”', '’', '*']).chars().next_back();
    let ends = last.is_some_and(|c| matches!(c, '.' | '!' | '?' | '…'));
    let goes_on = last.is_some_and(|c| [':', ';', ','].contains(&c));
    let first = text.chars().find(|c| c.is_alphanumeric());
    let words = || text.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphabetic()));
    let capitals = words().filter(|c| c.is_uppercase()).count() as f32 / words().count().max(1) as f32;
    [
        (text.chars().count() as f32).ln_1p() / 5.0,
        (words().count() as f32).ln_1p() / 3.0,
        flag(ends),
        flag(goes_on),
        flag(first.is_some_and(char::is_lowercase)),
        flag(first.is_some_and(char::is_numeric)),
        capitals,
        flag(matches!(kind, Kind::Heading(_))),
    ]
}

/// Takes every sentence for one with a full stop where hardly any has a mark at its end, as in transcripts of speech: there a missing
/// mark says nothing. Elsewhere it tells headings and items of lists from prose. Sentences that are known to be headings stay.
fn assume_marks(forms: &mut [[f32; OWN]]) {
    let mut prose: Vec<&mut [f32; OWN]> = forms.iter_mut().filter(|form| form[HEADING] == 0.0).collect();
    let marked: f32 = prose.iter().map(|form| form[ENDS] + form[GOES_ON]).sum();
    if marked <= UNMARKED * prose.len() as f32 {
        prose.iter_mut().filter(|form| form[GOES_ON] == 0.0).for_each(|form| form[ENDS] = 1.0);
    }
}

/// Running sums of vectors.
struct Sums {
    dimension: usize,
    /// Row `i` is the sum of the first `i` vectors.
    sums: Vec<f64>,
}

impl Sums {
    fn of(vectors: &[&[f32]]) -> Self {
        let dimension = vectors.first().map_or(0, |vector| vector.len());
        let mut sums = vec![0.0; dimension];
        sums.reserve(dimension * vectors.len());
        for (i, vector) in vectors.iter().enumerate() {
            for (k, &value) in vector.iter().enumerate() {
                sums.push(sums.get(i * dimension + k).copied().unwrap_or_default() + f64::from(value));
            }
        }
        Self { dimension, sums }
    }

    fn row(&self, i: usize) -> &[f64] {
        let last = self.sums.len() / self.dimension.max(1);
        let i = i.min(last.saturating_sub(1));
        self.sums.get(i * self.dimension..(i + 1) * self.dimension).unwrap_or_default()
    }

    /// The cosine of the sums of the `window` vectors on either side of a gap, fewer at the ends.
    fn cosine(&self, gap: usize, window: usize) -> f32 {
        let (first, middle, end) = (self.row(gap.saturating_sub(window)), self.row(gap), self.row(gap + window));
        let (mut dot, mut left, mut right) = (0.0, 0.0, 0.0);
        for ((first, middle), end) in first.iter().zip(middle).zip(end) {
            let (a, b) = (middle - first, end - middle);
            dot += a * b;
            left += a * a;
            right += b * b;
        }
        let norm = (left * right).sqrt();
        if norm > 0.0 { (dot / norm) as f32 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::{Document, Kind};

    use super::{ENDS, Facts, GAP, Inputs, NUMBERS, OWN};

    fn document() -> Document {
        Document::from_sentences("d", &["Ships sail.", "see also:", "x = y", "Rye Bread", "Bread rises!"])
    }

    #[test]
    fn a_row_has_the_vector_and_what_is_known_beside_it() {
        let mut document = document();
        document.sentences[2].kind = Kind::Code;
        document.sentences[3].kind = Kind::Heading(2);
        let vectors = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.6, 0.8];
        let inputs = Inputs::new(&document, &vectors, 2).unwrap();
        assert_eq!((inputs.len(), inputs.width(), inputs.sentences()), (4, 2 + NUMBERS, &[0, 1, 3, 4][..]));
        let rows: Vec<&[f32]> = inputs.rows().chunks_exact(inputs.width()).collect();
        let (own, gap) = (|i: usize| &rows[i][2..2 + OWN], |i: usize| &rows[i][2 + OWN..]);
        assert_eq!(rows[3][..2], [0.6, 0.8]);
        assert_eq!(own(0)[2..], [1.0, 0.0, 0.0, 0.0, 0.5, 0.0]);
        assert_eq!(own(1)[2..], [0.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(own(2)[2..], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
        // The cosine of neighbours, then of the means of two sentences on either side.
        assert!((gap(0)[0] - 1.0).abs() < 1e-6 && gap(1)[0].abs() < 1e-6 && (gap(2)[0] - 0.8).abs() < 1e-6);
        let mean = 0.6 / (0.6_f32 * 0.6 + 1.8 * 1.8).sqrt();
        assert!((gap(1)[1] - mean).abs() < 1e-6, "{} {mean}", gap(1)[1]);
        // Every sentence is a paragraph of its own: none is known.
        assert!((0..4).all(|i| gap(i)[GAP - 2..] == [0.0, 0.0]));
        assert!(gap(3).iter().all(|&number| number == 0.0));
        // Ships and bread share no word: a boundary between them gains.
        assert!(gap(1)[4] > gap(2)[4]);
    }

    #[test]
    fn a_text_without_marks_is_no_list_of_headings() {
        let ends = |texts: &[&str]| -> Vec<f32> {
            let facts = Facts::of(&Document::from_sentences("d", texts));
            facts.into_numbers().iter().map(|row| row[ENDS]).collect()
        };
        // A transcript: no sentence has a mark.
        assert_eq!(ends(&["so we sailed", "the sea was deep", "and the wind"]), [1.0; 3]);
        // One mark in twenty is an accident, and what goes on does not end.
        let mut many = vec!["so we sailed"; 39];
        many.push("the sea was deep.");
        assert_eq!(ends(&many), [1.0; 40]);
        many[0] = "we saw:";
        assert_eq!(ends(&many)[..2], [0.0, 1.0]);
        // Three are none.
        many[1] = "we saw:";
        assert_eq!(ends(&many)[1..3], [0.0, 0.0]);
        // Known headings are no sentences of the transcript.
        let mut document = Document::from_sentences("d", &["Sailing", "so we sailed", "the sea was deep"]);
        document.sentences[0].kind = Kind::Heading(1);
        let rows = Facts::of(&document).into_numbers();
        assert_eq!([rows[0][ENDS], rows[1][ENDS], rows[2][ENDS]], [0.0, 1.0, 1.0]);
        // Prose with headings.
        assert_eq!(ends(&["Sailing", "So we sailed.", "The sea was deep.", "The wind"]), [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn paragraphs_are_known_where_one_has_two_sentences() {
        let mut document = document();
        for (sentence, paragraph) in document.sentences.iter_mut().zip([0, 0, 1, 1, 2]) {
            sentence.paragraph = paragraph;
        }
        let inputs = Inputs::new(&document, &[1.0; 5], 1).unwrap();
        let ends: Vec<&[f32]> = inputs.rows().chunks_exact(inputs.width()).map(|row| &row[row.len() - 2..]).collect();
        assert_eq!(ends, [[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]);
    }

    #[test]
    fn a_part_has_the_rows_of_the_whole() {
        let sentences: Vec<String> = (0..40).map(|i| format!("Word{} and word{}.", i % 7, i % 3)).collect();
        let document = Document::from_sentences("d", &sentences).with_paragraphs(&[9, 14, 30]);
        let vectors: Vec<f32> = (0..40u8).flat_map(|i| [f32::from(i).sin(), f32::from(i).cos()]).collect();
        let whole = Inputs::new(&document, &vectors, 2).unwrap();
        let facts = Facts::of(&document);
        for range in [0..40, 0..5, 12..13, 20..31, 36..40] {
            let reach = facts.reach(&range);
            let part = facts.inputs(range.clone(), &vectors[2 * reach.start..2 * reach.end], 2).unwrap();
            assert_eq!(part.sentences(), &whole.sentences()[range.clone()]);
            let width = whole.width();
            let off = part.rows().iter().zip(&whole.rows()[range.start * width..range.end * width]);
            assert!(off.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) < 1e-6, "{range:?}");
            assert_eq!(part.rows().len(), range.len() * width);
            assert!(facts.inputs(range, &vectors[2..], 2).is_none());
        }
    }

    #[test]
    fn vectors_of_other_sentences_are_refused() {
        assert!(Inputs::new(&document(), &[1.0; 4], 1).is_none());
        assert!(Inputs::new(&document(), &[], 0).is_none());
        assert!(Inputs::new(&Document::from_sentences::<&str>("d", &[]), &[], 2).unwrap().is_empty());
    }
}
