use std::sync::Arc;

use pericope_encode::{Device, ModelError};
use pericope_segment::Resources;
use pericope_segment::registry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey, SpecArgs};
use pericope_segment::spec::SpecError;

use super::checkpoint::{CHECKPOINT, Checkpoint, HEAVIEST, Weights};
use super::cut::{Amount, Objective};
use super::encoder::OwnEncoder;
use super::model::Topic;
use super::segmenter::TopicSegmenter;
use super::shipped::shipped;
use crate::checkpoint::SHIPPED;
use crate::model_cache::ModelCache;
use crate::weswin;

pub(crate) const TOPIC: SegmenterEntry = SegmenterEntry {
    name: "topic",
    summary: "a trained sequence model over sentence embeddings, words and paragraphs; the best cut of the whole document",
    keys: &[
        SettingKey {
            name: "model",
            default: SHIPPED,
            doc: "`shipped`, or a checkpoint: a file or folder of `pericope train topic`",
        },
        SettingKey {
            name: "granularity",
            default: "",
            doc: "sections in 100 sentences, or coarse (3), medium (7), fine (15); by default what suits `objective`",
        },
        SettingKey {
            name: "objective",
            default: "balanced",
            doc: "f1 or window_diff: the number of sections is the best for it, by the model's own probabilities; balanced: between them",
        },
        SettingKey { name: "speed", default: "fast", doc: "fast: one reading of the text; best: WeSWin reads it too" },
        SettingKey {
            name: "weswin",
            default: SHIPPED,
            doc: "the WeSWin that reads with speed=best: `shipped`, or a file or folder of `pericope train weswin`",
        },
        SettingKey {
            name: "w_sequence",
            default: "",
            doc: "weight of the sequence model's log-odds, at least 0; the model's own by default",
        },
        SettingKey {
            name: "w_words",
            default: "",
            doc: "weight of the words of a section, at least 0; the model's own by default",
        },
        SettingKey {
            name: "w_fusion",
            default: "",
            doc: "weight of the log-odds of `fusion`, at least 0 (0: it is not asked); the model's own by default",
        },
        SettingKey {
            name: "w_weswin",
            default: "",
            doc: "weight of WeSWin's log-odds, at least 0; the model's own by default",
        },
        SettingKey {
            name: "prior",
            default: "",
            doc: "weight of the usual length of sections, at least 0; the model's own by default",
        },
        SettingKey {
            name: "bias",
            default: "",
            doc: "nats for every boundary: more for more boundaries; the model's own by default",
        },
    ],
    example: "topic:granularity=coarse",
    needs: Needs::Model,
    needs_of: None,
    has_scores: true,
    build,
};

/// Sections in 100 sentences, by name: of 33, 14 and 7 sentences each, as in articles, textbooks and reference pages.
const GRANULARITIES: [(&str, f64); 3] = [("coarse", 3.0), ("medium", 7.0), ("fine", 15.0)];

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    args.excludes("granularity", "tau")?;
    args.excludes("granularity", "objective")?;
    args.excludes("objective", "tau")?;
    let amount = amount(args)?;
    let reads_twice = args.choice("speed", &["fast", "best"])? == 1;
    let weight = |key, least: f64| args.maybe_number(key, least..=HEAVIEST);
    let (words, prior, bias) = (weight("w_words", 0.0)?, weight("prior", 0.0)?, weight("bias", -HEAVIEST)?);
    let (sequence, fusion, beside) = (weight("w_sequence", 0.0)?, weight("w_fusion", 0.0)?, weight("w_weswin", 0.0)?);
    let told = |own: Weights| Weights {
        sequence: sequence.unwrap_or(own.sequence),
        words: words.unwrap_or(own.words),
        fusion: fusion.unwrap_or(own.fusion),
        weswin: beside.unwrap_or(own.weswin),
        prior: prior.unwrap_or(own.prior),
        bias: bias.unwrap_or(own.bias),
    };
    if !reads_twice && let Some(key) = ["weswin", "w_weswin"].into_iter().find(|key| args.get(key).is_some()) {
        return Err(args.unavailable(format!("`{key}` is for speed=best, where WeSWin reads too")));
    }
    let weswin = reads_twice.then(|| args.text("weswin", SHIPPED));
    let model = args.text("model", SHIPPED);
    let unavailable = |reason: String| args.unavailable(reason);
    let opened = || open(model).map_err(|e| unavailable(e.to_string()));
    // The shipped model is no file: its settings are known before any is opened.
    let shipped = (model == SHIPPED).then(opened).transpose()?;
    if let Some(shipped) = &shipped {
        args.settle("model_sha256", shipped.sha256());
        // Not all of them are in the checkpoint: those that are not are the program's, and may change with it.
        let weights = told(shipped.settings.weights);
        let weswin = reads_twice.then_some(("w_weswin", weights.weswin));
        let others = [
            ("w_sequence", weights.sequence),
            ("w_words", weights.words),
            ("w_fusion", weights.fusion),
            ("prior", weights.prior),
            ("bias", weights.bias),
        ];
        others.into_iter().chain(weswin).for_each(|(key, value)| args.settle(key, value));
    }
    if weswin == Some(SHIPPED) {
        args.settle("weswin_sha256", pericope_weights_weswin::SHA256);
    }
    args.before_files()?;
    let checkpoint = shipped.map_or_else(opened, Ok)?;
    let model = loaded(&checkpoint).map_err(|e| unavailable(e.to_string()))?;
    let encoder = match OwnEncoder::of(&checkpoint) {
        Some(own) => resources.changed_encoder(own.base(), &|| own.load().map_err(|e| e.to_string())),
        None => resources.encoder(),
    };
    let encoder = encoder.map_err(unavailable)?;
    let weights = told(model.settings().weights);
    let built = TopicSegmenter::new(model, encoder).and_then(|built| built.with(amount).with_weights(weights));
    let built = built.map_err(unavailable)?;
    Ok(BuiltSegmenter::new(match weswin {
        Some(name) => built.with_weswin(weswin::segmenter_of(name).map_err(unavailable)?),
        None => built,
    }))
}

/// How many sections the spec asks for.
fn amount(args: &SpecArgs<'_>) -> Result<Amount, SpecError> {
    if let Some(threshold) = args.maybe_share("tau")? {
        return Ok(Amount::Above(threshold));
    }
    let Some(text) = args.get("granularity") else {
        const OBJECTIVES: [Objective; 3] = [Objective::Balanced, Objective::F1, Objective::WindowDiff];
        let chosen = args.choice("objective", &["balanced", "f1", "window_diff"])?;
        return Ok(Amount::Best(OBJECTIVES.get(chosen).copied().unwrap_or(Objective::Balanced)));
    };
    let named = GRANULARITIES.iter().find(|(name, _)| *name == text).map(|(_, sections)| *sections);
    match named.or_else(|| text.parse().ok()) {
        Some(sections) if sections > 0.0 && sections <= 100.0 => {
            args.settle("granularity", sections);
            Ok(Amount::Per100(sections))
        }
        _ => Err(args.bad("granularity", text, "a number above 0 and up to 100, or coarse, medium, fine")),
    }
}

/// The shipped checkpoint, a file, or `topic.safetensors` in a folder.
///
/// # Errors
/// [`ModelError`], naming the file.
pub fn open(name: &str) -> Result<Checkpoint, ModelError> {
    Checkpoint::named(name, CHECKPOINT, shipped)
}

/// By checksum: a file that changed is another model.
static LOADED: ModelCache<Topic> = ModelCache::new();

fn loaded(checkpoint: &Checkpoint) -> Result<Arc<Topic>, ModelError> {
    // On the CPU everywhere: the recurrence is quick there, and one reading of a document is little beside its embedding.
    LOADED.get(checkpoint.sha256(), || Topic::load(checkpoint, &Device::Cpu))
}
