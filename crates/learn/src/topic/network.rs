use std::ops::Range;

use candle_core::{D, Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use serde::{Deserialize, Serialize};

use crate::rows::{BUCKETS, CUES, Inputs, NUMBERS, batch, cue_batch, places};
use crate::sequence::{BiGated, BiLstm, GapHead, Init, Linear, Parameter};

/// The sizes of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Numbers of a sentence vector.
    pub input: usize,
    /// Numbers that a row is projected to.
    pub projection: usize,
    /// Units of each direction of each layer.
    pub hidden: usize,
    /// Layers that read the document.
    pub layers: usize,
    /// Units of the boundary head.
    pub head: usize,
    /// Numbers of the vector of a cue, a word that a sentence begins or ends with; 0: none is read, as by the first models.
    #[serde(default)]
    pub cue: usize,
    /// What the layers are.
    #[serde(default)]
    pub recurrence: Recurrence,
    /// What is not read.
    #[serde(default)]
    pub without: Without,
}

/// What a model leaves unread of the numbers beside a sentence's vector, to see what they give.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Without {
    /// The form of a sentence: length, first and last character, capitals, whether it is known to be a heading.
    pub form: bool,
    /// Cosines on both sides of a gap.
    pub cosines: bool,
    /// What the words on both sides of a gap gain by a boundary.
    pub words: bool,
    /// Whether a paragraph ends at a gap.
    pub paragraphs: bool,
}

impl Without {
    /// 1 for the numbers of a row that are read and 0 for the others; `None` where all are.
    fn mask(self, input: usize) -> Option<Vec<f32>> {
        let left_out = [
            (self.form, places::FORM),
            (self.cosines, places::COSINE),
            (self.words, places::WORD),
            (self.paragraphs, places::PARAGRAPH),
        ];
        let mut mask = vec![1.0; input + NUMBERS];
        for (_, range) in left_out.iter().filter(|(is, _)| *is) {
            mask.iter_mut().skip(input + range.start).take(range.len()).for_each(|number| *number = 0.0);
        }
        mask.contains(&0.0).then_some(mask)
    }
}

/// The layers that read a document in both directions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recurrence {
    /// Long short-term memory ([`BiLstm`]).
    #[default]
    Lstm,
    /// A gated linear recurrence ([`BiGated`]); a layer is added to what it reads, where both have the same width.
    Gated,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            input: 384,
            projection: 256,
            hidden: 192,
            layers: 2,
            head: 128,
            cue: 16,
            recurrence: Recurrence::Lstm,
            without: Without::default(),
        }
    }
}

/// The table of the vectors of cues.
const CUE_TABLE: &str = "cues";

/// The sequence model: a projection of each row, layers of a recurrence in both directions, and a head that reads the states on both sides of
/// a gap and what is known of the gap itself.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    sizes: Sizes,
    /// What a row is multiplied with, where a part of it is not read.
    mask: Option<Vec<f32>>,
    /// A row for each number that a cue can have.
    cues: Option<Tensor>,
    projection: Linear,
    layers: Vec<Layer>,
    head: GapHead,
}

#[derive(Debug, Clone)]
enum Layer {
    Lstm(BiLstm),
    Gated(BiGated),
}

impl Layer {
    fn parameters(at: usize, sizes: &Sizes) -> Vec<Parameter> {
        let (input, hidden) = (sizes.layer_input(at), sizes.hidden);
        match sizes.recurrence {
            Recurrence::Lstm => BiLstm::parameters(&format!("lstm.{at}"), input, hidden),
            Recurrence::Gated => BiGated::parameters(&format!("gated.{at}"), input, hidden),
        }
    }

    fn new(from: &dyn Tensors, at: usize, sizes: &Sizes, device: &Device) -> std::result::Result<Self, ModelError> {
        let (input, hidden) = (sizes.layer_input(at), sizes.hidden);
        Ok(match sizes.recurrence {
            Recurrence::Lstm => Self::Lstm(BiLstm::new(from, &format!("lstm.{at}"), input, hidden, device)?),
            Recurrence::Gated => Self::Gated(BiGated::new(from, &format!("gated.{at}"), input, hidden, device)?),
        })
    }

    fn forward(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        match self {
            Self::Lstm(layer) => layer.forward(x, lengths),
            Self::Gated(layer) => {
                let found = layer.forward(x, lengths)?;
                if found.dims() == x.dims() { found + x } else { Ok(found) }
            }
        }
    }
}

/// Leaves numbers of `[documents, time, numbers]` out in training; gives them as they are at other times.
pub(crate) type Drop<'a> = &'a mut dyn FnMut(Tensor) -> Result<Tensor>;

impl Network {
    /// The parameters, as they are before training.
    pub(crate) fn parameters(sizes: &Sizes) -> Vec<Parameter> {
        let mut list = Linear::parameters("projection", sizes.row(), sizes.projection);
        if sizes.cue > 0 {
            list.push(Parameter::new(CUE_TABLE, &[BUCKETS, sizes.cue], Init::Uniform(0.1)));
        }
        for layer in 0..sizes.layers {
            list.extend(Layer::parameters(layer, sizes));
        }
        list.extend(GapHead::parameters("head", sizes.head_input(), sizes.head));
        list
    }

    pub(crate) fn new(from: &dyn Tensors, sizes: &Sizes, device: &Device) -> std::result::Result<Self, ModelError> {
        let layer = |at| Layer::new(from, at, sizes, device);
        let cues = (sizes.cue > 0).then(|| from.tensor(CUE_TABLE, &[BUCKETS, sizes.cue], device));
        Ok(Self {
            sizes: *sizes,
            mask: sizes.without.mask(sizes.input),
            cues: cues.transpose()?,
            projection: Linear::new(from, "projection", sizes.row(), sizes.projection, device)?,
            layers: (0..sizes.layers).map(layer).collect::<std::result::Result<_, _>>()?,
            head: GapHead::new(from, "head", sizes.head_input(), sizes.head, device)?,
        })
    }

    /// The log-odds of a boundary behind each row of parts of documents: `[documents, time]`, with the documents' lengths; the last one
    /// of a document, and those beyond its length, mean nothing.
    pub(crate) fn read(&self, parts: &[(&Inputs, Range<usize>)], device: &Device, drop: Drop<'_>) -> Result<Tensor> {
        let (mut rows, lengths) = batch(parts, device)?;
        if let Some(mask) = &self.mask {
            rows = rows.broadcast_mul(&Tensor::new(mask.as_slice(), device)?)?;
        }
        let rows = match &self.cues {
            Some(table) => {
                let cues = cue_batch(parts, device)?;
                let (documents, time, _) = rows.dims3()?;
                let found = table.index_select(&cues.flatten_all()?, 0)?;
                Tensor::cat(&[&rows, &found.reshape((documents, time, CUES * self.sizes.cue))?], D::Minus1)?
            }
            None => rows,
        };
        self.forward(&rows, &lengths, drop)
    }

    /// `[documents, time, input + NUMBERS and the vectors of cues]` becomes `[documents, time]`.
    fn forward(&self, rows: &Tensor, lengths: &[usize], drop: Drop<'_>) -> Result<Tensor> {
        let projection = self.sizes.projection;
        let (documents, time, width) = rows.dims3()?;
        let projected = self.projection.forward(&rows.reshape((documents * time, width))?)?.tanh()?;
        let projected = drop(projected.reshape((documents, time, projection))?)?;
        let mut states = projected.clone();
        for layer in &self.layers {
            states = drop(layer.forward(&states, lengths)?)?;
        }
        // Beside the state its row as projected, so that what is known of the gap needs no way through the LSTM.
        self.head.forward(&Tensor::cat(&[&states, &projected], D::Minus1)?)
    }
}

impl Sizes {
    /// Numbers that the projection reads of a sentence.
    fn row(&self) -> usize {
        self.input + NUMBERS + CUES * self.cue
    }

    fn layer_input(&self, layer: usize) -> usize {
        if layer == 0 { self.projection } else { 2 * self.hidden }
    }

    fn head_input(&self) -> usize {
        2 * self.hidden + self.projection
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use candle_core::{Device, Tensor};
    use pericope_api::Document;

    use super::{Network, Recurrence, Sizes, Without};
    use crate::rows::Inputs;
    use crate::sequence::Parameters;

    const SIZES: Sizes = Sizes {
        input: 2,
        projection: 6,
        hidden: 3,
        layers: 2,
        head: 4,
        cue: 0,
        recurrence: Recurrence::Lstm,
        without: Without { form: false, cosines: false, words: false, paragraphs: false },
    };

    fn odds(sizes: Sizes, texts: &[&str; 4], vectors: &[f32; 8]) -> Vec<f32> {
        let parameters = Parameters::new(&Network::parameters(&sizes), 7, &Device::Cpu).unwrap();
        let network = Network::new(&parameters, &sizes, &Device::Cpu).unwrap();
        let inputs = Inputs::new(&Document::from_sentences("d", texts), vectors, 2).unwrap();
        let found: Tensor = network.read(&[(&inputs, 0..4)], &Device::Cpu, &mut Ok).unwrap();
        found.to_vec2().unwrap().concat()[..3].to_vec()
    }

    const TEXTS: [&str; 4] = ["Ships sail far.", "A mast holds sails.", "bread rises;", "Rye bread needs salt."];
    const VECTORS: [f32; 8] = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.6, 0.8];

    #[test]
    fn what_is_left_unread_changes_nothing() {
        let other = ["Ships sail far.", "A mast holds sails", "bread, rises!", "Rye needs salt and bread."];
        let turned = [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.8, 0.6];
        let all = Without { form: true, cosines: true, words: true, paragraphs: true };
        assert_ne!(odds(SIZES, &TEXTS, &VECTORS), odds(SIZES, &other, &VECTORS));
        let blind = Sizes { without: all, ..SIZES };
        assert_eq!(odds(blind, &TEXTS, &VECTORS), odds(blind, &other, &VECTORS));
        // Vectors are read all the same.
        assert_ne!(odds(blind, &TEXTS, &VECTORS), odds(blind, &TEXTS, &turned));
        for one in [
            Without { form: true, ..Without::default() },
            Without { cosines: true, ..Without::default() },
            Without { words: true, ..Without::default() },
        ] {
            let found = odds(Sizes { without: one, ..SIZES }, &TEXTS, &VECTORS);
            assert!(found != odds(SIZES, &TEXTS, &VECTORS) && found != odds(blind, &TEXTS, &VECTORS), "{one:?}");
        }
    }

    #[test]
    fn cues_are_read_where_there_are_any() {
        // Another first word, of the same form.
        let other = ["Boats sail far.", TEXTS[1], TEXTS[2], TEXTS[3]];
        let all = Without { form: true, cosines: true, words: true, paragraphs: true };
        let found = |cue: usize, texts| odds(Sizes { cue, without: all, ..SIZES }, texts, &VECTORS);
        assert_eq!(found(0, &TEXTS), found(0, &other));
        assert_ne!(found(4, &TEXTS), found(4, &other));
    }

    #[test]
    fn both_recurrences_see_what_comes_later() {
        let later = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 0.0];
        let all = Without { form: true, cosines: true, words: true, paragraphs: true };
        for recurrence in [Recurrence::Lstm, Recurrence::Gated] {
            let sizes = Sizes { recurrence, without: all, ..SIZES };
            assert_ne!(odds(sizes, &TEXTS, &VECTORS)[0], odds(sizes, &TEXTS, &later)[0], "{recurrence:?}");
        }
    }
}
