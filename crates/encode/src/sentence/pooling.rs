use pericope_util::to_length_one;
use serde_json::Value;

/// The way from the rows of a text's tokens to one vector, as its direction: vectors have norm 1 afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pooling {
    /// The row of the first token.
    First,
    /// The mean. (The sum over the root of the number of tokens has the same direction.)
    Mean,
    /// The greatest number of each column.
    Max,
    /// The mean, the first row once, the second twice, and so on.
    Weighted,
    /// The row of the last token.
    Last,
}

/// Names of the ways in `1_Pooling/config.json`: today's, that of older files, and what they stand for.
const MODES: [(&str, &str, Pooling); 6] = [
    ("cls", "pooling_mode_cls_token", Pooling::First),
    ("mean", "pooling_mode_mean_tokens", Pooling::Mean),
    ("max", "pooling_mode_max_tokens", Pooling::Max),
    ("mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", Pooling::Mean),
    ("weightedmean", "pooling_mode_weightedmean_tokens", Pooling::Weighted),
    ("lasttoken", "pooling_mode_lasttoken", Pooling::Last),
];

impl Pooling {
    /// The way that a `1_Pooling/config.json` names; the mean where it names none.
    ///
    /// # Errors
    /// For a name that is not known, and for several ways side by side.
    pub(crate) fn of(config: &Value) -> Result<Self, String> {
        let named: Vec<String> = match config.get("pooling_mode") {
            Some(Value::String(name)) => vec![name.clone()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => {
                let is_on = |key: &str| config.get(key).and_then(Value::as_bool).unwrap_or(false);
                MODES.iter().filter(|(_, key, _)| is_on(key)).map(|(name, ..)| (*name).to_owned()).collect()
            }
        };
        match named.as_slice() {
            [] => Ok(Self::Mean),
            [name] => Self::by_name(name).ok_or_else(|| {
                let known = MODES.map(|(name, ..)| name).join(", ");
                format!("there is no pooling {name:?}; known: {known}")
            }),
            several => Err(format!("{} are taken side by side: one is supported", several.join(" and "))),
        }
    }

    /// The way of a name.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        MODES.iter().find(|(known, ..)| *known == name).map(|&(.., pooling)| pooling)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        MODES.iter().find(|(.., pooling)| *pooling == self).map_or("", |(name, ..)| name)
    }

    /// Pools the rows of one text, `[tokens, hidden]`, into `out`, of any length. Rows are not empty.
    pub(crate) fn pool(self, rows: &[f32], out: &mut [f32]) {
        let hidden = out.len().max(1);
        match self {
            Self::First => out.copy_from_slice(rows.get(..hidden).unwrap_or_default()),
            Self::Last => out.copy_from_slice(rows.get(rows.len().saturating_sub(hidden)..).unwrap_or_default()),
            Self::Max => {
                out.fill(f32::NEG_INFINITY);
                for row in rows.chunks_exact(hidden) {
                    out.iter_mut().zip(row).for_each(|(most, x)| *most = most.max(*x));
                }
            }
            Self::Mean | Self::Weighted => {
                out.fill(0.0);
                for (i, row) in rows.chunks_exact(hidden).enumerate() {
                    let weight = if self == Self::Weighted { (i + 1) as f32 } else { 1.0 };
                    out.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
                }
            }
        }
    }
}

/// Scales a vector to norm 1; one of zeros stays. Where one number is infinite or none, all are none afterwards, so that whoever
/// checks finds it.
pub(crate) fn normalise(vector: &mut [f32]) {
    match to_length_one(vector) {
        Some(scaled) => vector.iter_mut().for_each(|x| *x = scaled(*x)),
        None => vector.fill(f32::NAN),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::{Pooling, normalise};

    #[test]
    fn ways_are_named_in_both_layouts() {
        let old = |on: &[&str]| {
            json!(on.iter().map(|key| ((*key).to_owned(), true)).collect::<std::collections::BTreeMap<_, _>>())
        };
        assert_eq!(Pooling::of(&old(&["pooling_mode_lasttoken"])), Ok(Pooling::Last));
        assert_eq!(Pooling::of(&old(&[])), Ok(Pooling::Mean));
        assert_eq!(Pooling::of(&json!({"pooling_mode": "max"})), Ok(Pooling::Max));
        assert_eq!(Pooling::of(&json!({"pooling_mode": ["cls"]})), Ok(Pooling::First));
        let two = Pooling::of(&old(&["pooling_mode_cls_token", "pooling_mode_mean_tokens"])).unwrap_err();
        assert_eq!(two, "cls and mean are taken side by side: one is supported");
        assert!(
            Pooling::of(&json!({"pooling_mode": "median"})).unwrap_err().contains("no pooling \"median\"; known: cls")
        );
    }

    #[test]
    fn rows_are_pooled_by_hand() {
        let rows = [1.0, 5.0, 3.0, 1.0];
        let of = |pooling: Pooling| {
            let mut out = [0.0; 2];
            pooling.pool(&rows, &mut out);
            out
        };
        assert_eq!(of(Pooling::First), [1.0, 5.0]);
        assert_eq!(of(Pooling::Last), [3.0, 1.0]);
        assert_eq!(of(Pooling::Max), [3.0, 5.0]);
        assert_eq!(of(Pooling::Mean), [4.0, 6.0]);
        assert_eq!(of(Pooling::Weighted), [7.0, 7.0]);
        let mut vectors = [[3.0, 4.0], [0.0, 0.0]];
        vectors.iter_mut().for_each(|vector| normalise(vector));
        assert_eq!(vectors, [[0.6, 0.8], [0.0, 0.0]]);
        for broken in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            let mut vector = [1.0, broken];
            normalise(&mut vector);
            assert!(vector.iter().all(|x| x.is_nan()), "{vector:?}");
        }
        let mut large = [f32::MAX, 0.0];
        normalise(&mut large);
        assert_eq!(large, [1.0, 0.0]);
    }
}
