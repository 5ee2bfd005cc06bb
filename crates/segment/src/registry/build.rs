use pericope_api::Segmenter;

use super::args::SpecArgs;
use super::embedder::{self, WithEncoder};
use super::entry::{BuiltSegmenter, Needs, POLICY_KEYS, SegmenterEntry};
use super::table::list;
use crate::Chunker;
use crate::policy::{Overlap, SizePolicy};
use crate::resources::{Limits, Resources};
use crate::spec::{Spec, SpecError, hint};

/// Builds a chunker from a spec: the segmenter of this crate, the counter, and the limits in force.
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
    build_from(list(), spec, resources)
}

/// Builds a chunker with other segmenters than this crate's: a program that adds its own passes [`list()`] and them.
///
/// # Errors
/// As [`build`].
pub fn build_from(entries: &[SegmenterEntry], spec: &Spec, resources: &dyn Resources) -> Result<Chunker, SpecError> {
    let entry = check_in(entries, spec)?;
    let named = embedder::asked(entry, spec).map(|name| WithEncoder { base: resources, name });
    let resources = named.as_ref().map_or(resources, |named| named as &dyn Resources);
    let args = SpecArgs::new(spec, resources);
    chunker(spec, &args, resources, || (entry.build)(&args, resources))
}

/// Builds a chunker of a segmenter that no spec names, with the counter and the limits in force, as [`build`] does. Its spec
/// says `custom`, and the limits.
///
/// ```
/// use pericope_segment::structure::Sentences;
/// use pericope_segment::{Limits, Standalone, registry};
///
/// let resources = Standalone { defaults: Limits { max_tokens: Some(50), ..Limits::default() } };
/// let chunker = registry::build_custom(Box::new(Sentences), &resources)?;
/// assert_eq!(chunker.spec().to_string(), "custom:max_tokens=50");
/// # Ok::<(), pericope_segment::spec::SpecError>(())
/// ```
///
/// # Errors
/// [`SpecError`] for limits that make no sense, and without a counter.
pub fn build_custom(segmenter: Box<dyn Segmenter>, resources: &dyn Resources) -> Result<Chunker, SpecError> {
    let spec = Spec::new("custom")?;
    let args = SpecArgs::new(&spec, resources);
    chunker(&spec, &args, resources, || {
        Ok(BuiltSegmenter { segmenter, resolved: None, overlap: None, finished: false })
    })
}

/// Joins what `build` makes with the counter and the limits in force.
fn chunker(
    spec: &Spec,
    args: &SpecArgs<'_>,
    resources: &dyn Resources,
    build: impl FnOnce() -> Result<BuiltSegmenter, SpecError>,
) -> Result<Chunker, SpecError> {
    let mut limits = args.limits()?;
    let threshold = args.maybe_share("tau")?;
    let counter = resources.counter().map_err(|reason| args.unavailable(reason))?;
    let special = counter.special_tokens();
    if let Some(max) = limits.max_tokens.filter(|&max| max != 0 && max <= special) {
        return Err(args.bad("max_tokens", max, &format!("more than the {special} special tokens of every chunk")));
    }
    let built = build()?;
    if built.finished {
        // Nobody's defaults cut what somebody else has finished.
        limits = args.asked_limits()?;
        let others = [limits.min_tokens, limits.target_tokens, limits.overlap];
        if others.into_iter().flatten().any(|limit| limit > 0) {
            return Err(args.unavailable(
                "its chunks are kept as they are: max_tokens may cut long ones further; min_tokens, target_tokens and \
                 overlap do not apply"
                    .into(),
            ));
        }
    }
    let some = |tokens: Option<usize>| tokens.filter(|&t| t != 0);
    let policy = SizePolicy {
        max_tokens: some(limits.max_tokens),
        min_tokens: some(limits.min_tokens),
        target_tokens: some(limits.target_tokens),
        overlap: built.overlap.unwrap_or(Overlap::Sentences(limits.overlap.unwrap_or(0))),
        threshold,
    };
    if let (Some(max), Some(min)) = (policy.max_tokens, policy.min_tokens)
        && min > max
    {
        return Err(args.bad("min_tokens", min, &format!("at most max_tokens={max}")));
    }
    let resolved = resolve(spec, built.resolved, limits, threshold)?;
    Ok(Chunker::new(built.segmenter, policy, counter).with_spec(resolved))
}

/// Checks a spec's name and keys without building anything. Returns the entry of that name.
///
/// # Errors
/// [`SpecError::UnknownName`] and [`SpecError::UnknownKey`], which list what is known.
pub fn check_in<'a>(entries: &'a [SegmenterEntry], spec: &Spec) -> Result<&'a SegmenterEntry, SpecError> {
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

/// Returns the models that a spec's segmenter reads with, and those of the segmenters that it [refers
/// to](Spec::references), without building anything; [`Needs::None`] for names that are not among `entries`.
///
/// ```
/// use pericope_segment::registry::{Needs, list, needs};
/// use pericope_segment::spec::Spec;
///
/// assert_eq!(needs(list(), &Spec::parse("graph")?), Needs::Encoder);
/// assert_eq!(needs(list(), &Spec::parse("graph:similarity=jaccard")?), Needs::None);
/// assert_eq!(needs(list(), &Spec::parse("same-size:reference=(window:k=5,pool=min)")?), Needs::Encoder);
/// # Ok::<(), pericope_segment::spec::SpecError>(())
/// ```
#[must_use]
pub fn needs(entries: &[SegmenterEntry], spec: &Spec) -> Needs {
    let own = entries.iter().find(|entry| entry.name == spec.name).map_or(Needs::None, |entry| {
        let Some(needs_of) = entry.needs_of else { return entry.needs };
        needs_of(spec)
    });
    // A reference is shorter than the spec that holds it, so this ends.
    spec.references().iter().map(|reference| needs(entries, reference)).fold(own, Needs::max)
}

/// The spec that gives the same chunker under any defaults.
fn resolve(spec: &Spec, instead: Option<Spec>, limits: Limits, threshold: Option<f64>) -> Result<Spec, SpecError> {
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
    match threshold {
        Some(threshold) => resolved.with("tau", threshold),
        None => Ok(resolved),
    }
}
