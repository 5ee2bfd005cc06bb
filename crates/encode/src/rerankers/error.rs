use pericope_segment::spec::SpecError;

/// The reason for which a spec gives no reranker. Each message is one line and says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RerankerSpecError {
    /// The text does not have the form of a spec.
    #[error("reranker `{spec}`: {reason} (the form is name:key=value,key=value, or https://HOST/PATH,key=value)")]
    Syntax {
        /// The text that was given.
        spec: String,
        /// The fault.
        reason: String,
    },
    /// No reranker has this name.
    #[error("there is no reranker `{name}`{hint}; known: {known}")]
    UnknownName {
        /// The name that was given.
        name: String,
        /// ` (did you mean ...?)`, or nothing.
        hint: String,
        /// The names that there are.
        known: String,
    },
    /// The reranker does not take this key.
    #[error("reranker `{name}` has no setting `{key}`{hint}; known: {known}")]
    UnknownKey {
        /// The name of the reranker.
        name: String,
        /// The key that was given.
        key: String,
        /// ` (did you mean ...?)`, or nothing.
        hint: String,
        /// The keys that it takes.
        known: String,
    },
    /// A value of the wrong type or out of its range.
    #[error("reranker `{name}`: {key}={value}: expected {expected}")]
    BadValue {
        /// The name of the reranker.
        name: String,
        /// The key of the setting.
        key: String,
        /// The value that was given.
        value: String,
        /// A description of the values that are right.
        expected: String,
    },
    /// A model is missing or cannot be used, or a service cannot be asked.
    #[error("reranker `{spec}`: {reason}")]
    Unavailable {
        /// The spec, without what may be secret in it.
        spec: String,
        /// The missing thing and how to get it.
        reason: String,
    },
}

impl RerankerSpecError {
    /// The error of a text that has not the form of a spec.
    pub(super) fn syntax(spec: &str, error: SpecError) -> Self {
        let reason = match error {
            SpecError::Syntax { reason, .. } => reason,
            other => other.to_string(),
        };
        Self::Syntax { spec: spec.to_owned(), reason }
    }
}
