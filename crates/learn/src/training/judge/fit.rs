use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use candle_core::{Device, Tensor, Var};
use pericope_encode::encoders::{self, Embed, LayerByLayer, Tuned};
use pericope_encode::kernels::Precision;
use pericope_encode::{Base, ModelError};
use pericope_segment::random::{SplitMix64, fnv1a};
use rayon::prelude::*;
use sha2::Digest;

use super::data::{JudgeData, JudgeQuestion};
use super::loss::{Counts, Heads, Loss};
use super::options::JudgeOptions;
use super::sample::{Room, Sample};
use super::unsupervised::{Flips, Labels, relabel};
use super::validation::Validating;
use crate::cogltx::{CHECKPOINT, Checkpoint, Judge, Settings, check_settings};
use crate::training::events::{Event, Judged, TrainReport, Validation, Watch};
use crate::training::feed::Feed;
use crate::training::fit::{self, Run, Task, fit};
use crate::training::gradients::Gradients;
use crate::training::options::{Options, TrainError};
use crate::training::state::Progress;
use crate::training::variables::{Start, Unchanged, Variables};

/// Trains the judge and the reasoner on `base` and writes `out/judge.safetensors`: the weights that are best on the `validation`
/// questions (the last where there are none), with what `start` holds beside them. The checkpoint names the base model as
/// [`Base::named_for`] does; `notes` are kept in it.
///
/// Each question is read once an epoch, by some blocks of its text drawn anew: relevant and other ones each by itself, or, in one
/// sequence, a run of blocks, or the relevant ones with others at random or with those that have most words of the query. Beside blocks by
/// themselves `options.elsewhere` blocks of other texts are read at most, as irrelevant ones. The loss is the mean cross-entropy of the tokens' relevance, query tokens
/// being relevant, and by weights that of each relevant block among the question's irrelevant ones, and that of the answers' ends among the
/// tokens of the blocks. Layers below `options.common.frozen` stay as
/// they are. The learning rate ends at a tenth.
///
/// Without relevance labels (`options.unsupervised`) those of the training questions are not looked at: questions without an answer are
/// left out, the blocks with most words of the query are relevant to begin with, and after each epoch [`Event::Relabelled`] says what
/// the interventions changed.
///
/// Validation measures the area under the ROC curve of blocks that are read by themselves, and the F1 of answers; the mean of the two
/// decides. An interrupted training leaves `out/state.safetensors`, written once a minute, and the same call goes on from it, with
/// the same result up to rounding.
///
/// # Errors
/// [`TrainError`]: for a `start` on another base model or that lies where the checkpoint is to be written, for a state of another
/// training, without questions, for a loss that is no number, and where candle or the disk fails.
pub fn train_judge(
    base: &Base,
    start: Option<&Checkpoint>,
    data: JudgeData<'_>,
    options: &JudgeOptions,
    out: &Path,
    notes: &str,
    progress: &mut Watch<'_>,
) -> Result<TrainReport, TrainError> {
    let device = pericope_encode::best_device();
    let settings = settings(base, options, out, notes);
    fit::check(base, &options.common, 1)?;
    check_settings(&settings, base.config.max_tokens()).map_err(TrainError::Options)?;
    fit::check_target(start, &out.join(CHECKPOINT))?;
    if let Some(start) = start {
        // Says what does not fit: its base model, its tensors.
        Judge::on(base, start, &device)?;
        let Settings { block, query, .. } = start.settings;
        if (block, query) != (options.block, options.query) {
            let reason = format!("it reads blocks of {block} tokens and queries of {query}: train on with these");
            return Err(ModelError::unusable(start.path(), reason).into());
        }
    }
    let mut questions = data.train.to_vec();
    if options.unsupervised.is_some() {
        // Without an answer the reasoner loses nothing.
        questions.retain(|question| question.answer.is_some());
    }
    let weights = [("order", options.order_weight), ("ends", options.span_weight)];
    if let Some((what, weight)) = weights.into_iter().find(|(_, weight)| !weight.is_finite() || *weight < 0.0) {
        return Err(TrainError::Options(format!("the weight of {what} is {weight}: give 0 or more")));
    }
    if questions.is_empty() {
        return Err(TrainError::Options("there is no question to train on".into()));
    }
    fit::make_folder(out)?;
    let initial = Start::of(start);
    let started = initial.checksum()?;
    let special = (base.tokens.start(), base.tokens.end());
    let common = &options.common;
    let mut trainer = Trainer {
        base,
        variables: Variables::new(base, &device, common, initial)?,
        device: device.clone(),
        options,
        out,
        settings,
        special,
        validating: Validating::new(data.validation, common.tokens, special, common.seed),
        lower: None,
        tuned: None,
        // What is drawn of a question differs in length from step to step, so a batch is sorted when it is drawn.
        feed: Feed::new(vec![1; questions.len()], common.batch, common.seed),
        step: 0,
        labels: None,
        fingerprint: String::new(),
        questions,
    };
    let fingerprint = fit::fingerprint(base, &started, common, |hash| {
        hash.update(format!(
            "judge 4 {} {} {} {} {}",
            options.block, options.query, options.elsewhere, options.order_weight, options.span_weight
        ));
        hash.update(format!("{:?}", options.unsupervised));
        for one in trainer.questions.iter().chain(data.validation) {
            one.all().flatten().chain(&one.query).for_each(|id| hash.update(id.to_le_bytes()));
            hash.update(format!("{:?}{:?}", one.relevant, one.answer));
        }
    });
    if let Some(unsupervised) = &options.unsupervised {
        trainer.labels = Some(Labels::open(out, &fingerprint, &trainer.questions, unsupervised.start));
        trainer.fingerprint.clone_from(&fingerprint);
    }
    fit(&mut trainer, &Run { options: common, out, device: &device, fingerprint }, progress)
}

fn settings(base: &Base, options: &JudgeOptions, out: &Path, notes: &str) -> Settings {
    Settings {
        base: base.named_for(out),
        base_sha256: base.weights.sha256().to_owned(),
        tokens: options.common.tokens,
        block: options.block,
        query: options.query,
        auc: None,
        notes: notes.to_owned(),
    }
}

struct Trainer<'a> {
    base: &'a Base,
    variables: Variables<'a>,
    device: Device,
    options: &'a JudgeOptions,
    out: &'a Path,
    settings: Settings,
    special: (u32, u32),
    questions: Vec<JudgeQuestion>,
    validating: Validating<'a>,
    lower: Option<Box<dyn Embed>>,
    /// The encoder where changes of low rank are trained on a CPU whose kernels suit it.
    tuned: Option<Tuned>,
    feed: Feed,
    /// Steps done.
    step: usize,
    /// The labels of questions whose own are not used.
    labels: Option<Labels>,
    /// Says what is trained how.
    fingerprint: String,
}

impl Trainer<'_> {
    fn loss(&self) -> Result<Loss<'_>, TrainError> {
        let config = &self.base.config;
        Ok(Loss {
            heads: Heads::of(&self.variables, config.hidden_size, &self.device)?,
            lower: self.lower.as_deref(),
            layers: (self.options.common.frozen, config.num_hidden_layers),
            hidden: config.hidden_size,
            order_weight: self.options.order_weight,
            span_weight: self.options.span_weight,
            device: &self.device,
        })
    }

    /// The variables as they are now.
    fn checkpoint(&self, auc: Option<f64>) -> Result<Checkpoint, TrainError> {
        Ok(Checkpoint::new(Settings { auc, ..self.settings.clone() }, self.variables.values()?))
    }
}

impl Task for Trainer<'_> {
    fn variables(&self) -> &Variables<'_> {
        &self.variables
    }

    fn heads(&self) -> Result<(), TrainError> {
        self.loss().map(drop)
    }

    fn batches(&self) -> usize {
        self.feed.batches()
    }

    fn least_rate(&self) -> f64 {
        0.1
    }

    fn has_encoder(&self) -> bool {
        self.tuned.is_some()
    }

    /// Packs the frozen layers, or all of them.
    fn prepare(&mut self, _: usize, _: &mut Watch<'_>) -> Result<(), TrainError> {
        let Options { rank, frozen, .. } = self.options.common;
        let mut config = self.variables.config();
        if rank > 0 && self.device.is_cpu() && Tuned::fits(&config) {
            let precision = Precision::of_machine().map_err(ModelError::Setting)?;
            self.tuned = Some(Tuned::new(&config, &Unchanged(&self.variables), frozen, precision)?);
        } else if frozen > 0 {
            config.num_hidden_layers = frozen;
            self.lower = Some(encoders::build(&config, &self.variables, &self.device)?);
        }
        Ok(())
    }

    fn skip_to(&mut self, steps: usize) {
        self.feed.skip_to(steps);
        self.step = steps;
        let begun = steps.checked_sub(1).map_or(0, |last| last / self.batches().max(1));
        if let Some(labels) = &mut self.labels {
            labels.apply(begun, &mut self.questions);
        }
    }

    /// Labels blocks anew after an epoch.
    fn before(&mut self, step: usize, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let Some(options) = &self.options.unsupervised else { return Ok(()) };
        let batches = self.batches().max(1);
        if step == 0 || !step.is_multiple_of(batches) {
            return Ok(());
        }
        let judge = Judge::on(self.base, &self.checkpoint(None)?, &self.device)?;
        let Flips { up, down, relevant } = relabel(&judge, &mut self.questions, options)?;
        if let Some(labels) = &mut self.labels {
            labels.save(&self.fingerprint, &self.questions)?;
        }
        let _ = progress(Event::Relabelled { epoch: step / batches, up, down, relevant });
        Ok(())
    }

    fn backward(&mut self, encoder: &dyn LayerByLayer, gradients: &mut Gradients) -> Result<f32, TrainError> {
        let batch = self.feed.next().unwrap_or_default();
        let (questions, special, step) = (self.questions.as_slice(), self.special, self.step);
        let Options { tokens, seed, .. } = self.options.common;
        let room = Room { tokens, block: self.options.block, elsewhere: self.options.elsewhere };
        let drawn = batch.par_iter().map(|&i| {
            let mut random = SplitMix64::new(fnv1a(seed, [step.to_le_bytes(), i.to_le_bytes()].concat()));
            Sample::drawn(questions, i, room, special, &mut random)
        });
        let mut asked: Vec<Vec<Sample>> = drawn.filter(|samples| !samples.is_empty()).collect();
        let longest = |samples: &Vec<Sample>| samples.iter().map(|sample| sample.sequence.ids.len()).max();
        asked.sort_by_key(|samples| std::cmp::Reverse(longest(samples)));
        let counts = Counts::of(&asked);
        let variables = self.variables.all();
        if let Some(tuned) = &mut self.tuned {
            let values = variables.iter().map(|(name, variable)| (name.clone(), variable.as_detached_tensor()));
            tuned.set(&values.collect::<HashMap<String, Tensor>>())?;
        }
        let loss = self.loss()?;
        let one = |part: &&[Vec<Sample>]| -> Result<(f32, Gradients), TrainError> {
            let mut own = Gradients::default();
            let loss = match &self.tuned {
                Some(tuned) => by_kernels(tuned, &loss, part, counts, &variables, &mut own)?,
                None => {
                    let loss = loss.of(encoder, part, counts)?;
                    own.add_by(&loss, &variables)?;
                    loss
                }
            };
            Ok((loss.to_scalar()?, own))
        };
        let parts: Vec<&[Vec<Sample>]> = asked.chunks(self.options.common.micro_batch.max(1)).collect();
        // Most of candle's operations on a CPU run on one thread. A GPU would hold all parts at once, and be no quicker.
        let done: Vec<(f32, Gradients)> = match self.device.is_cpu() {
            true => parts.par_iter().map(one).collect::<Result<_, _>>()?,
            false => parts.iter().map(one).collect::<Result<_, _>>()?,
        };
        // In the order of the parts, so that the sums do not depend on the threads.
        let mut sum = 0.0;
        for (own, part) in done {
            sum += own;
            gradients.merge(part)?;
        }
        self.step += 1;
        Ok(sum)
    }

    fn validates(&self) -> bool {
        !self.validating.is_empty()
    }

    fn validate(&mut self, at: &mut Progress, progress: &mut Watch<'_>) -> Result<(), TrainError> {
        let model = Judge::on(self.base, &self.checkpoint(None)?, &self.device)?;
        let judged = self.validating.measure(&model)?;
        let Judged { auc, span_f1, .. } = judged;
        let score = span_f1.map_or(auc, |f1| f64::midpoint(auc, f1));
        let best = at.better(score);
        if best {
            self.checkpoint(Some(auc))?.write(&self.out.join(CHECKPOINT), false)?;
        }
        let step = at.step;
        let found =
            Validation { step, f1: None, threshold: 0.5, accuracy: None, questions: None, judged: Some(judged), best };
        at.note(&found, score);
        let _ = progress(Event::Validated(found));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TrainError> {
        if self.validates() {
            return Ok(());
        }
        Ok(self.checkpoint(None)?.write(&self.out.join(CHECKPOINT), false)?)
    }
}

/// The loss of what is read of some questions, whose gradients are added: those of the heads by candle, those below them by kernels.
fn by_kernels(
    tuned: &Tuned,
    loss: &Loss<'_>,
    asked: &[Vec<Sample>],
    counts: Counts,
    heads: &BTreeMap<String, Var>,
    gradients: &mut Gradients,
) -> Result<Tensor, TrainError> {
    let ids: Vec<&[u32]> = asked.iter().flatten().map(|sample| sample.sequence.ids.as_slice()).collect();
    let tape = tuned.forward(&ids)?;
    let tokens = ids.iter().map(|ids| ids.len()).sum::<usize>();
    let rows = Var::from_slice(tape.rows(), (tokens, loss.hidden), loss.device)?;
    let found = loss.of_rows(rows.as_tensor(), asked, counts)?;
    let store = found.backward()?;
    gradients.add_from(&store, heads)?;
    if let Some(by_rows) = store.get(&rows) {
        let by_rows: Vec<f32> = by_rows.flatten_all()?.to_vec1()?;
        gradients.add_named(&tuned.backward(tape, &by_rows)?)?;
    }
    Ok(found)
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
