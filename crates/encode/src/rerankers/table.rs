use super::entry::{NONE, RerankerEntry};
use crate::cross_encoder::CROSS_ENCODER;
use crate::late_interaction::MAXSIM;

/// Returns the rerankers of this crate.
#[must_use]
pub fn list() -> &'static [RerankerEntry] {
    &[NONE, CROSS_ENCODER, MAXSIM]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::list;
    use crate::rerankers::{RerankerSpec, build_from};

    #[test]
    fn what_is_wrong_with_a_spec_is_said_in_one_line() {
        let built = |text: &str| build_from(list(), &RerankerSpec::parse(text).unwrap()).map(|built| built.is_some());
        assert_eq!(built("none"), Ok(false));
        for (wrong, says) in [
            ("reader", "there is no reranker `reader`; known: none, cross-encoder, maxsim"),
            ("none:k=1", "reranker `none` has no setting `k`; known: none"),
            ("cross-encoder", "the folder of the model is missing: cross-encoder:model=DIR"),
            ("cross-encoder:modle=x", "no setting `modle` (did you mean `model`?); known: model, max_tokens"),
            ("maxsim:embedder=none", "reranker `maxsim`: embedder=none: expected an embedder"),
            ("maxsim:embedder=none/such", "there is no such folder"),
            ("maxsim:embedder=openai:m", "endpoints give no vectors of tokens"),
            ("cross-encoder:model=x,max_tokens=3", "max_tokens=3: expected a whole number of at least 8"),
            ("cross-encoder:model=none/such", "there is no config.json in none/such"),
        ] {
            let text = built(wrong).unwrap_err().to_string();
            assert!(text.contains(says) && !text.contains('\n'), "{wrong}: {text}");
        }
    }
}
