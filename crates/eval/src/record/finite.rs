//! Numbers that are not finite, which JSON has not.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::metric::Metric;

/// Metric name to value; names as in `summary.json`: `span_recall`, `judge`, `token_f1`.
pub type Metrics = BTreeMap<Metric, f64>;

/// JSON has no NaN: what could not be worked out is written as `null` and read back as NaN.
pub fn null_as_nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

/// Metric maps hold finite numbers only, on both ways.
pub mod finite_metrics {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Metrics;
    use crate::metric::Metric;

    pub fn serialize<S: Serializer>(metrics: &Metrics, into: S) -> Result<S::Ok, S::Error> {
        into.collect_map(metrics.iter().filter(|(_, value)| value.is_finite()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Metrics, D::Error> {
        let read = BTreeMap::<Metric, Option<f64>>::deserialize(from)?;
        Ok(read.into_iter().filter_map(|(name, value)| Some((name, value.filter(|v| v.is_finite())?))).collect())
    }
}
