//! Segmenters by their specs: those of `pericope-segment`, and the trained ones.

use std::sync::OnceLock;

use pericope_segment::registry::{SegmenterEntry, build_from, check_in, outside};
use pericope_segment::spec::{Spec, SpecError};
use pericope_segment::{Chunker, Resources};

use crate::{nsp, weswin};

/// All segmenters: those of `pericope-segment`, those of this crate, and last those that read a file or start a program that the
/// spec names ([`outside`]). A server that takes specs of strangers leaves these out.
#[must_use]
pub fn segmenters() -> &'static [SegmenterEntry] {
    static ALL: OnceLock<Vec<SegmenterEntry>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = pericope_segment::registry::list().to_vec();
        all.extend([weswin::WESWIN, nsp::NSP]);
        all.extend_from_slice(outside());
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
