use candle_core::{D, Device, IndexOp, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;

use super::checkpoint::Settings;
use super::gaps::{Gaps, on_diagonal};
use crate::sequence::{BiLstm, Init, Linear, Parameter};

/// Types of a node, as [`Kind`](super::Kind).
pub(super) const KINDS: usize = 2;

/// The layers of a model: what is read of sentences in, scores of spans out (Nair et al. 2023, section 5.2; projection and gaps
/// are not in the paper).
pub(crate) struct Network {
    hidden: usize,
    /// Numbers of a boundary vector for the structure.
    boundary: usize,
    /// Numbers that a projection gives.
    numbers: usize,
    projection: Option<Linear>,
    lstm: Vec<BiLstm>,
    structure: [Boundary; 2],
    labels: [Boundary; 2],
    spans: Tensor,
    kinds: Tensor,
    topics: Option<Tensor>,
    gaps: Option<Gaps>,
}

/// A layer that makes boundary vectors of contextual ones: leaky ReLU of slope 0.1 on a linear map.
struct Boundary {
    weight: Tensor,
    bias: Tensor,
}

impl Boundary {
    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let y = x.matmul(&self.weight.t()?)?.broadcast_add(&self.bias)?;
        // max(y, 0.1 y)
        (y.relu()? * 0.9)? + (y * 0.1)?
    }
}

/// What is known about the sentences of a batch, one row a sentence and place: `[documents * time, ...]`.
pub(crate) struct Read {
    documents: usize,
    time: usize,
    structure: [Tensor; 2],
    labels: [Tensor; 2],
    gaps: Option<Tensor>,
}

impl Read {
    /// The log-odds of a boundary behind each sentence, `[documents, time]`, 0 where there is no gap; nothing where the model
    /// has no head for them.
    pub(crate) fn gaps(&self) -> Option<&Tensor> {
        self.gaps.as_ref()
    }
}

/// A span of a document of a batch: `start..end`.
pub(crate) type Place = (usize, (usize, usize));

impl Network {
    /// The parameters of a model of these settings.
    pub(crate) fn parameters(settings: &Settings) -> Vec<Parameter> {
        let (sizes, topics) = (&settings.sizes, settings.topics.len());
        let mut all = Vec::new();
        if sizes.projection > 0 {
            all.extend(Linear::parameters("projection", settings.width(), sizes.projection));
        }
        for layer in 0..sizes.layers {
            all.extend(BiLstm::parameters(&format!("lstm.{layer}"), settings.layer(layer), sizes.hidden));
        }
        let width = 2 * sizes.hidden;
        let bound = 1.0 / (width.max(1) as f32).sqrt();
        for (name, size) in [("structure", sizes.structure), ("labels", sizes.labels)] {
            for side in ["left", "right"] {
                let name = format!("{name}.{side}");
                all.push(Parameter::new(format!("{name}.weight"), &[size, width], Init::Uniform(bound)));
                all.push(Parameter::new(format!("{name}.bias"), &[size], Init::Uniform(bound)));
            }
        }
        let zeros = |name: &str, shape: &[usize]| Parameter::new(name, shape, Init::Constant(0.0));
        all.push(zeros("structure.scores", &[sizes.structure, sizes.structure]));
        all.push(zeros("labels.scores", &[KINDS, sizes.labels, sizes.labels]));
        if topics > 0 {
            all.push(zeros("topics.scores", &[topics, sizes.labels, sizes.labels]));
        }
        if sizes.head > 0 {
            all.extend(Gaps::parameters(settings.known(), sizes.head));
        }
        all
    }

    pub(crate) fn new(
        from: &dyn Tensors,
        settings: &Settings,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        let sizes = &settings.sizes;
        let lstm = (0..sizes.layers)
            .map(|layer| BiLstm::new(from, &format!("lstm.{layer}"), settings.layer(layer), sizes.hidden, device));
        let boundary = |name: &str, size: usize| -> std::result::Result<Boundary, ModelError> {
            Ok(Boundary {
                weight: from.tensor(&format!("{name}.weight"), &[size, 2 * sizes.hidden], device)?,
                bias: from.tensor(&format!("{name}.bias"), &[size], device)?,
            })
        };
        let wide = [sizes.labels, sizes.labels];
        Ok(Self {
            hidden: sizes.hidden,
            boundary: sizes.structure,
            numbers: sizes.projection,
            projection: match sizes.projection {
                0 => None,
                numbers => Some(Linear::new(from, "projection", settings.width(), numbers, device)?),
            },
            lstm: lstm.collect::<std::result::Result<_, _>>()?,
            structure: [boundary("structure.left", sizes.structure)?, boundary("structure.right", sizes.structure)?],
            labels: [boundary("labels.left", sizes.labels)?, boundary("labels.right", sizes.labels)?],
            spans: from.tensor("structure.scores", &[sizes.structure, sizes.structure], device)?,
            kinds: from.tensor("labels.scores", &[&[KINDS], &wide[..]].concat(), device)?,
            topics: match settings.topics.len() {
                0 => None,
                topics => Some(from.tensor("topics.scores", &[&[topics], &wide[..]].concat(), device)?),
            },
            gaps: match sizes.head {
                0 => None,
                units => Some(Gaps::new(from, settings.known(), units, device)?),
            },
        })
    }

    /// Reads a batch `[documents, time, numbers]` of what is read of sentences. `drop` is applied to what comes out of the
    /// projection and of each layer of the LSTM.
    pub(crate) fn read(
        &self,
        x: &Tensor,
        lengths: &[usize],
        drop: &mut dyn FnMut(Tensor) -> Result<Tensor>,
    ) -> Result<Read> {
        let (documents, time, width) = x.dims3()?;
        let known = match &self.projection {
            Some(projection) => {
                let projected = projection.forward(&x.reshape((documents * time, width))?)?.tanh()?;
                drop(projected.reshape((documents, time, self.numbers))?)?
            }
            None => x.clone(),
        };
        let mut states = known.clone();
        for layer in &self.lstm {
            states = drop(layer.forward(&states, lengths)?)?;
        }
        let gaps = match &self.gaps {
            // Beside the state its row, so that what is known of the gap needs no way through the LSTM.
            Some(gaps) => Some(gaps.odds(&Tensor::cat(&[&states, &known], D::Minus1)?, lengths)?),
            None => None,
        };
        let x = states.reshape((documents * time, 2 * self.hidden))?;
        let [sl, sr] = &self.structure;
        let [ll, lr] = &self.labels;
        let (structure, labels) = ([sl.apply(&x)?, sr.apply(&x)?], [ll.apply(&x)?, lr.apply(&x)?]);
        Ok(Read { documents, time, structure, labels, gaps })
    }

    /// True where a head of gaps has a say.
    pub(crate) fn has_gaps(&self) -> bool {
        self.gaps.is_some()
    }

    /// The scores of all spans, `[documents, time, time]`: that from sentence `i` to sentence `j`, both with it, at `[i, j]`, and at
    /// `[i, i]` that of a sentence that begins a node.
    pub(crate) fn spans(&self, read: &Read) -> Result<Tensor> {
        let shape = (read.documents, read.time, self.boundary);
        let [left, right] = &read.structure;
        let left = left.matmul(&self.spans)?.reshape(shape)?;
        let spans = left.matmul(&right.reshape(shape)?.transpose(1, 2)?.contiguous()?)?;
        on_diagonal(&spans, read.gaps.as_ref())
    }

    /// The scores of the types of some spans, `[spans, 2]`.
    pub(crate) fn kinds(&self, read: &Read, places: &[Place]) -> Result<Tensor> {
        labelled(read, places, &self.kinds)
    }

    /// The scores of the segment labels of some spans, `[spans, labels]`; nothing where the model has none.
    pub(crate) fn topics(&self, read: &Read, places: &[Place]) -> Result<Option<Tensor>> {
        self.topics.as_ref().map(|topics| labelled(read, places, topics)).transpose()
    }
}

/// Biaffine scores of spans, a column a label.
fn labelled(read: &Read, places: &[Place], scores: &Tensor) -> Result<Tensor> {
    let device = scores.device();
    let row = |document: usize, sentence: usize| (document * read.time + sentence) as u32;
    let starts: Vec<u32> = places.iter().map(|&(d, (start, _))| row(d, start)).collect();
    let ends: Vec<u32> = places.iter().map(|&(d, (_, end))| row(d, end - 1)).collect();
    let count = places.len();
    let [left, right] = &read.labels;
    let left = left.index_select(&Tensor::from_vec(starts, count, device)?, 0)?;
    let right = right.index_select(&Tensor::from_vec(ends, count, device)?, 0)?;
    let column = |label: usize| (left.matmul(&scores.i(label)?)? * &right)?.sum(D::Minus1);
    let columns = (0..scores.dim(0)?).map(column).collect::<Result<Vec<_>>>()?;
    Tensor::stack(&columns, 1)
}

impl Settings {
    /// Numbers of a sentence that the LSTM reads, and the head of gaps beside the states.
    fn read(&self) -> usize {
        if self.sizes.projection > 0 { self.sizes.projection } else { self.width() }
    }

    /// Numbers that go into a layer of the LSTM.
    fn layer(&self, layer: usize) -> usize {
        if layer == 0 { self.read() } else { 2 * self.sizes.hidden }
    }

    /// Numbers of a sentence that the head of gaps reads.
    fn known(&self) -> usize {
        2 * self.sizes.hidden + self.read()
    }
}
