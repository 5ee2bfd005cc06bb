use std::fmt;

/// The error of something that an [`Engine`](crate::Engine) was asked to make.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A wrong spec or name, or a model that is not installed: the user can mend it.
    #[error("{0}")]
    Usage(String),
    /// A file or a cache that cannot be opened.
    #[error("{0}")]
    Runtime(String),
}

impl EngineError {
    pub(crate) fn usage(problem: impl fmt::Display) -> Self {
        EngineError::Usage(problem.to_string())
    }

    #[cfg_attr(not(feature = "llm"), allow(dead_code))]
    pub(crate) fn runtime(problem: impl fmt::Display) -> Self {
        EngineError::Runtime(problem.to_string())
    }
}
