//! Segmenters and rerankers by their specs: those of the crates below, and the trained ones.

use std::sync::OnceLock;

use pericope_encode::rerankers::{self, RerankerEntry};
use pericope_segment::registry::{SegmenterEntry, build_from, check_in, outside};
use pericope_segment::spec::{Spec, SpecError};
use pericope_segment::{Chunker, Resources};

use crate::{cogltx, hiercrf, nsp, topic, weswin};

/// All segmenters: those of `pericope-segment`, those of this crate, and last those that read a file, start a program or ask a
/// service that the spec names ([`outside`]). A server that takes specs of strangers leaves these out.
#[must_use]
pub fn segmenters() -> &'static [SegmenterEntry] {
    static ALL: OnceLock<Vec<SegmenterEntry>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = pericope_segment::registry::list().to_vec();
        all.extend([topic::TOPIC, weswin::WESWIN, nsp::NSP, hiercrf::HIERCRF]);
        all.extend_from_slice(outside());
        all
    })
}

/// All rerankers of this crate and of `pericope-encode`.
#[must_use]
pub fn rerankers() -> &'static [RerankerEntry] {
    static ALL: OnceLock<Vec<RerankerEntry>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = rerankers::list().to_vec();
        all.extend([weswin::RERANKER, cogltx::RERANKER]);
        all
    })
}

/// Builds the chunker of a spec, whichever of all segmenters it names.
///
/// # Errors
/// [`SpecError`] for unknown names and keys, values out of range, and missing resources.
pub fn build(spec: &Spec, resources: &dyn Resources) -> Result<Chunker, SpecError> {
    build_from(segmenters(), spec, resources)
}

/// Checks a spec's name and keys without building anything.
///
/// # Errors
/// [`SpecError::UnknownName`] and [`SpecError::UnknownKey`], which list what is known.
pub fn check(spec: &Spec) -> Result<&'static SegmenterEntry, SpecError> {
    check_in(segmenters(), spec)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_segment::Limits;
    use pericope_segment::registry::{Needs, settings};
    use pericope_segment::spec::Spec;

    use super::segmenters;
    use crate::{nsp, topic, weswin};

    #[test]
    fn settings_of_trained_segmenters_name_what_ships() {
        let of = |spec: &str| settings(segmenters(), &Spec::parse(spec).unwrap(), Limits::NONE).unwrap();
        for entry in segmenters().iter().filter(|entry| entry.needs == Needs::Model) {
            let found = of(entry.name);
            let shipped = found.get("model").is_some_and(|model| model == "shipped");
            // Other weights are other settings: where they ship, the build settles `model_sha256`.
            assert_eq!(found.contains_key("model_sha256"), shipped, "{}", entry.name);
        }
        let (found, own) = (of("weswin"), weswin::shipped().unwrap());
        assert_eq!(found["model_sha256"], own.sha256());
        assert_eq!((&found["partition"], &found["weights"]), (&own.settings.partition, &own.settings.weights));
        assert_eq!(found["tau"], own.settings.threshold.to_string());
        let told = of("weswin:partition=cr-2,tau=0.50");
        assert_eq!((told["partition"].as_str(), told["tau"].as_str()), ("cr-2", "0.5"));
        let (found, own) = (of("nsp"), nsp::shipped().unwrap());
        assert_eq!(found["model_sha256"], own.sha256());
        let p = own.settings.threshold.map(|odds| nsp::Threshold::of_odds(odds).p()).unwrap();
        assert_eq!((&found["p"], found["limit"].as_str()), (&p.to_string(), "512"));
        assert!(!of("nsp:one_minus_p=1e-5").contains_key("p"));
        // The weights of the evidence that are in force, whoever chose them: the checkpoint, the program or the spec.
        let (found, own) = (of("topic"), topic::shipped().unwrap().settings.weights);
        for (key, value) in
            [("w_sequence", own.sequence), ("w_words", own.words), ("w_fusion", own.fusion), ("bias", own.bias)]
        {
            assert_eq!(found[key], value.to_string(), "{key}");
        }
        assert_eq!(of("topic:w_fusion=0")["w_fusion"], "0");
        assert_eq!(of("topic:speed=best")["w_weswin"], own.weswin.to_string());
        // A file of somebody's is not opened.
        let other = of("weswin:model=none-such.safetensors");
        assert_eq!((other.get("model_sha256"), other["model"].as_str()), (None, "none-such.safetensors"));
    }
}
