//! The segmenters there are, by name, and how specs become chunkers.

mod args;

use pericope_api::Segmenter;

pub use args::Args;

use crate::policy::{Overlap, SizePolicy};
use crate::resources::{Limits, Resources};
use crate::spec::{Spec, SpecError, hint};
use crate::{Chunker, embedding, fixed, fusion, graph, lexical, structure};

/// A setting of a segmenter.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// As in the spec.
    pub name: &'static str,
    /// Value where it is not given; empty where there is none.
    pub default: &'static str,
    /// What it means, in a few words.
    pub doc: &'static str,
}

/// A segmenter as help texts show it and specs name it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its own settings; [`POLICY_KEYS`] come on top.
    pub keys: &'static [Key],
    /// A spec that shows how it is used.
    pub example: &'static str,
    /// True where it needs the encoder's model: it asks [`Resources::encoder`], or is trained on top of it.
    pub needs_encoder: bool,
    /// True where it scores gaps, so that it takes `tau`.
    pub has_scores: bool,
    /// Builds it.
    pub build: fn(&Args<'_>, &dyn Resources) -> Result<Built, SpecError>,
}

/// What an [`Entry`] builds.
pub struct Built {
    segmenter: Box<dyn Segmenter>,
    resolved: Option<Spec>,
    overlap: Option<Overlap>,
}

impl Built {
    /// A segmenter whose spec says all.
    pub fn new(segmenter: impl Segmenter + 'static) -> Self {
        Self { segmenter: Box::new(segmenter), resolved: None, overlap: None }
    }

    /// With the spec of what it came down to, where it depends on more than its settings (`same-size`).
    #[must_use]
    pub fn resolved(mut self, spec: Spec) -> Self {
        self.resolved = Some(spec);
        self
    }

    /// With an overlap other than whole sentences of the chunk before.
    #[must_use]
    pub fn with_overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = Some(overlap);
        self
    }
}

/// The size policy's settings, which every segmenter takes (`tau` where it has scores).
pub const POLICY_KEYS: &[Key] = &[
    Key { name: "max_tokens", default: "", doc: "most tokens a chunk, special tokens included; 0: no limit" },
    Key { name: "min_tokens", default: "0", doc: "chunks below this many tokens are avoided" },
    Key { name: "target_tokens", default: "0", doc: "chunks of about this many tokens are sought; 0: no target" },
    Key {
        name: "overlap",
        default: "0",
        doc: "whole sentences repeated from the chunk before (fixed:tokens=N: tokens)",
    },
    Key {
        name: "tau",
        default: "",
        doc: "threshold on boundary scores, 0 to 1; the segmenter's own where it is not given",
    },
];

const ENTRIES: &[Entry] = &[
    fixed::FIXED,
    fixed::SAME_SIZE,
    structure::SENTENCE,
    structure::PARAGRAPH,
    structure::RECURSIVE,
    structure::STRUCTURE,
    embedding::WINDOW,
    embedding::KAMRADT,
    fusion::FUSION,
    embedding::VARIANCE,
    embedding::CLUSTER,
    graph::GRAPH,
    lexical::TEXTTILING,
    lexical::C99_ENTRY,
    lexical::U00_ENTRY,
    lexical::BAYESSEG,
    fixed::RANDOM,
];

/// All segmenters of this crate.
#[must_use]
pub fn list() -> &'static [Entry] {
    ENTRIES
}

/// Builds a chunker from a spec: the segmenter, the counter, and the limits in force.
///
/// ```
/// use pericope_segment::{Standalone, registry, spec::Spec};
///
/// let chunker = registry::build(&Spec::parse("paragraph:max_tokens=200")?, &Standalone::default())?;
/// assert_eq!(chunker.spec().to_string(), "paragraph:max_tokens=200");
///
/// let error = registry::build(&Spec::parse("paragraf")?, &Standalone::default()).map(|_| ()).unwrap_err();
/// assert!(error.to_string().contains("did you mean `paragraph`?"));
/// # Ok::<(), pericope_segment::spec::SpecError>(())
/// ```
///
/// # Errors
/// [`SpecError`] for unknown names and keys, values out of range, and missing resources.
pub fn build(spec: &Spec, resources: &dyn Resources) -> Result<Chunker, SpecError> {
    build_from(ENTRIES, spec, resources)
}

/// The same with other segmenters than this crate's: a program that adds its own passes `list()` and them.
///
/// # Errors
/// As [`build`].
pub fn build_from(entries: &[Entry], spec: &Spec, resources: &dyn Resources) -> Result<Chunker, SpecError> {
    let entry = check_in(entries, spec)?;
    let args = Args::new(spec, resources);
    let limits = args.limits()?;
    let tau = args.maybe_share("tau")?;
    let counter = resources.counter().map_err(|reason| args.unavailable(reason))?;
    let special = counter.special_tokens();
    if let Some(max) = limits.max_tokens.filter(|&max| max != 0 && max <= special) {
        return Err(args.bad("max_tokens", max, &format!("more than the {special} special tokens of every chunk")));
    }
    let built = (entry.build)(&args, resources)?;
    let some = |tokens: Option<usize>| tokens.filter(|&t| t != 0);
    let policy = SizePolicy {
        max_tokens: some(limits.max_tokens),
        min_tokens: some(limits.min_tokens),
        target_tokens: some(limits.target_tokens),
        overlap: built.overlap.unwrap_or(Overlap::Sentences(limits.overlap.unwrap_or(0))),
        tau,
    };
    if let (Some(max), Some(min)) = (policy.max_tokens, policy.min_tokens)
        && min > max
    {
        return Err(args.bad("min_tokens", min, &format!("at most max_tokens={max}")));
    }
    let resolved = resolve(spec, built.resolved, limits, tau)?;
    Ok(Chunker::new(built.segmenter, policy, counter).with_spec(resolved))
}

/// Checks a spec's name and keys without building anything.
///
/// # Errors
/// [`SpecError::UnknownName`] and [`SpecError::UnknownKey`], which list what is known.
pub fn check(spec: &Spec) -> Result<&'static Entry, SpecError> {
    check_in(ENTRIES, spec)
}

/// The same with other segmenters than this crate's.
///
/// # Errors
/// As [`check`].
pub fn check_in<'a>(entries: &'a [Entry], spec: &Spec) -> Result<&'a Entry, SpecError> {
    let names = || entries.iter().map(|e| e.name);
    let Some(entry) = entries.iter().find(|e| e.name == spec.name) else {
        return Err(SpecError::UnknownName {
            name: spec.name.clone(),
            hint: hint(&spec.name, names()),
            known: names().collect::<Vec<_>>().join(", "),
        });
    };
    let policy = POLICY_KEYS.iter().filter(|k| entry.has_scores || k.name != "tau");
    let known: Vec<&str> = entry.keys.iter().chain(policy).map(|k| k.name).collect();
    match spec.args.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(entry),
        Some(key) => Err(SpecError::UnknownKey {
            name: spec.name.clone(),
            key: key.clone(),
            hint: hint(key, known.iter().copied()),
            known: known.join(", "),
        }),
    }
}

/// The spec that gives the same chunker under any defaults.
fn resolve(spec: &Spec, instead: Option<Spec>, limits: Limits, tau: Option<f64>) -> Result<Spec, SpecError> {
    let mut resolved = instead.unwrap_or_else(|| spec.clone());
    resolved = resolved.with("max_tokens", limits.max_tokens.unwrap_or(0))?;
    let rest =
        [("min_tokens", limits.min_tokens), ("target_tokens", limits.target_tokens), ("overlap", limits.overlap)];
    for (key, value) in rest {
        resolved.args.remove(key);
        if let Some(value) = value.filter(|&v| v != 0) {
            resolved = resolved.with(key, value)?;
        }
    }
    match tau {
        Some(tau) => resolved.with("tau", tau),
        None => Ok(resolved),
    }
}
