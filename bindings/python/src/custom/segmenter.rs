use std::sync::Arc;

use pericope::api::{self, SegmentError, Segmentation};
use pyo3::prelude::*;

use super::{Raised, fingerprint, fingerprint_or_name, method_or_function};
use crate::document::Document;
use crate::errors::usage;
use crate::segmentation::from_python;

/// A segmenter in Python: an object with the method `segment`, or a function.
pub struct Segmenter {
    object: Py<PyAny>,
    fingerprint: String,
    raised: Raised,
}

impl Segmenter {
    pub fn new(object: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        if let Ok(made) = object.cast::<crate::segmenter::Segmenter>() {
            let spec = made.get().chunker.spec().to_string();
            return Err(usage(format!("a pericope.Segmenter is none of your own: pass the spec, {spec:?}")));
        }
        let call = method_or_function(object, "segment", "segmenter")?;
        Ok(Self { object: call.unbind(), fingerprint: fingerprint(object)?.unwrap_or_default(), raised })
    }

    /// As [`new`](Self::new), for an experiment: one without a `fingerprint` is told from others by its name.
    pub fn named(object: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        Ok(Self { fingerprint: fingerprint_or_name(object)?, ..Self::new(object, raised)? })
    }
}

impl api::Segmenter for Segmenter {
    fn segment(&self, document: &api::Document) -> Result<Segmentation, SegmentError> {
        let answer = self.raised.call(|py| {
            let given = Bound::new(py, Document::of(Arc::new(document.clone())))?;
            from_python(&self.object.bind(py).call1((given,))?, document)
        });
        answer.map_err(SegmentError::Unsupported)
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }
}
