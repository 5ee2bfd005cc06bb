//! The reading of a document: one partition, or a coarse one first and a fine one where that leaves doubt.

use std::fmt;
use std::str::FromStr;

use pericope_segment::spec::Spec;

use super::partition::Partition;

/// The sequences that a document is read in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plan {
    /// All sequences of one partition.
    All(Partition),
    /// All sequences of `base`; then, of those of `refine`, only the ones that hold sentences whose probability lies
    /// within `margin` of the threshold, until no decision on them can change any more. What is averaged is every prediction
    /// of either; sentences that a sequence of both reads together are read once.
    Adaptive {
        /// Read first, whole.
        base: Partition,
        /// Read where there is doubt.
        refine: Partition,
        /// Half the width of the band of doubt, in `[0, 1]`.
        margin: f64,
    },
}

/// The margin of `adaptive` where none is given.
const MARGIN: f64 = 0.2;

impl FromStr for Plan {
    type Err = String;

    /// `cr-1`, or `adaptive:base=cr-1,refine=ss-4,margin=0.2` (these are the defaults).
    fn from_str(text: &str) -> Result<Self, String> {
        if !text.starts_with("adaptive") {
            return text
                .parse()
                .map(Plan::All)
                .map_err(|e| format!("{e}, and adaptive:base=cr-1,refine=ss-4,margin={MARGIN}"));
        }
        let spec = Spec::parse(text).map_err(|e| e.to_string())?;
        if let Some(key) = spec.args.keys().find(|key| !["base", "refine", "margin"].contains(&key.as_str())) {
            return Err(format!("adaptive has no {key:?}: known are base, refine and margin"));
        }
        if spec.name != "adaptive" {
            return Err(format!("{:?} is no partition", spec.name));
        }
        let margin = match spec.get("margin") {
            None => MARGIN,
            Some(text) => text
                .parse()
                .ok()
                .filter(|margin| (0.0..=1.0).contains(margin))
                .ok_or_else(|| format!("margin is {text:?}, expected a number from 0 to 1"))?,
        };
        Ok(Plan::Adaptive {
            base: spec.get("base").unwrap_or("cr-1").parse()?,
            refine: spec.get("refine").unwrap_or("ss-4").parse()?,
            margin,
        })
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plan::All(partition) => write!(f, "{partition}"),
            Plan::Adaptive { base, refine, margin } => {
                write!(f, "adaptive:base={base},refine={refine},margin={margin}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Partition, Plan};

    #[test]
    fn plans_are_read_and_written() {
        assert_eq!("clr-3".parse(), Ok(Plan::All(Partition::Both(3))));
        let text = "adaptive:base=cr-0,refine=ss-2,margin=0.35";
        assert_eq!(text.parse::<Plan>().unwrap().to_string(), text);
        let all = "adaptive".parse::<Plan>().unwrap().to_string();
        assert_eq!(all, "adaptive:base=cr-1,refine=ss-4,margin=0.2");
        for text in ["adaptive:margin=2", "adaptive:bias=3", "adaptive:base=x", "adaptively", "all"] {
            assert!(text.parse::<Plan>().is_err(), "{text}");
        }
    }
}
