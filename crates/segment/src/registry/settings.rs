use std::collections::BTreeMap;
use std::sync::Arc;

use pericope_api::{Embeddings, EncodeError, SentenceEncoder};

use super::args::SpecArgs;
use super::build::check_in;
use super::embedder::{self, WithEncoder};
use super::entry::SegmenterEntry;
use super::table::is_finished;
use crate::resources::{Limits, Resources};
use crate::spec::{Spec, SpecError};

/// Returns every setting of a spec at the value in force, by key, defaults filled in: those of its segmenter, and those of the size
/// policy. `defaults` are the limits where the spec names none; what they leave open is left out of `max_tokens`, and 0
/// elsewhere. `tau` is there where the spec or the segmenter names a threshold beforehand. A segmenter whose weights ship with
/// the program adds `model_sha256`.
///
/// No model, file or program is opened, so that the answer is the same on every machine. What depends on a corpus
/// (the bound of `same-size`) is not among it, nor are the settings of the segmenters that the spec [refers
/// to](Spec::references).
///
/// ```
/// use pericope_segment::Limits;
/// use pericope_segment::registry::{list, settings};
/// use pericope_segment::spec::Spec;
///
/// let found = settings(list(), &Spec::parse("window:pool=min")?, Limits::INDEX)?;
/// let value = |key: &str| found.get(key).map(String::as_str);
/// assert_eq!((value("k"), value("pool"), value("depth")), (Some("4"), Some("min"), Some("0.3")));
/// assert_eq!((value("max_tokens"), value("overlap")), (Some("256"), Some("0")));
/// # Ok::<(), pericope_segment::spec::SpecError>(())
/// ```
///
/// # Errors
/// As [`build`](super::build()), for what is wrong with the spec itself.
pub fn settings(
    entries: &[SegmenterEntry],
    spec: &Spec,
    defaults: Limits,
) -> Result<BTreeMap<String, String>, SpecError> {
    let entry = check_in(entries, spec)?;
    let unopened = Unopened { defaults };
    let args = SpecArgs::of_settings(spec, &unopened);
    let (limits, asked) = (args.limits()?, args.asked_limits()?);
    args.maybe_share("tau")?;
    let named = embedder::asked(entry, spec).map(|name| WithEncoder { base: &unopened, name });
    let built = (entry.build)(&args, named.as_ref().map_or(&unopened as &dyn Resources, |named| named));
    let (settled, went_on) = args.into_settled();
    let finished = match built {
        Ok(built) => built.finished,
        Err(wrong) if went_on => return Err(wrong),
        Err(_) => is_finished(entry.name),
    };
    let mut found = spec.args.clone();
    found.extend(settled);
    found.insert("segmenter".into(), spec.name.clone());
    // Nobody's defaults cut what somebody else has finished.
    let limits = if finished { asked } else { limits };
    found.extend(limits.max_tokens.map(|max| ("max_tokens".to_owned(), max.to_string())));
    let rest =
        [("min_tokens", limits.min_tokens), ("target_tokens", limits.target_tokens), ("overlap", limits.overlap)];
    found.extend(rest.map(|(key, limit)| (key.to_owned(), limit.unwrap_or(0).to_string())));
    Ok(found)
}

/// Resources that open nothing: what is built from them is thrown away unused.
struct Unopened {
    defaults: Limits,
}

impl Resources for Unopened {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        Ok(Arc::new(Absent(String::new())))
    }

    fn named_encoder(&self, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
        Ok(Arc::new(Absent(name.to_owned())))
    }

    fn mean_words(&self, _: &str) -> Result<f64, String> {
        Ok(1.0)
    }

    fn defaults(&self) -> Limits {
        self.defaults
    }
}

/// Stands for the encoder of that name, on which settings may depend.
struct Absent(String);

impl SentenceEncoder for Absent {
    fn name(&self) -> &str {
        &self.0
    }

    fn fingerprint(&self) -> String {
        self.0.clone()
    }

    fn dimension(&self) -> usize {
        1
    }

    fn max_tokens(&self) -> usize {
        usize::MAX
    }

    fn is_static(&self) -> bool {
        self.0 == "static" || self.0.starts_with("static:")
    }

    fn encode(&self, _: &[&str]) -> Result<Embeddings, EncodeError> {
        Err(EncodeError::Model("only the settings are wanted".into()))
    }
}
