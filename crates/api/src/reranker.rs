/// The reason for which passages could not be scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RerankError {
    /// The model is not on this machine, or its files do not fit together.
    #[error("{0}")]
    Model(String),
    /// The model or the service failed while it ran.
    #[error("the reranker failed: {0}")]
    Run(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Says how well passages answer a query, from the words of both: slower and better than comparing a vector of each, and so for the
/// best hits of a search alone.
pub trait Reranker: Send + Sync {
    /// The short name, as in `--rerank`: `cogltx`.
    fn name(&self) -> &str;

    /// Names all that the scores depend on: model, checksum of its weights, limits. It changes whenever the scores could.
    fn fingerprint(&self) -> String;

    /// Passages come in the order of a search, best first: a score may depend on its passage's place.
    ///
    /// Returns one finite score a passage, in order: the higher, the better the passage answers the query. Scores of one call
    /// compare with each other, not with those of other queries. The same passages give the same scores for every thread count.
    ///
    /// # Errors
    /// [`RerankError`] where the model or the service fails.
    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError>;
}
