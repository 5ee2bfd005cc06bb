use crate::StoreError;

/// A passage of a collection that another program made: a text, and perhaps the name of its document.
#[derive(Debug, Clone, PartialEq)]
pub struct OthersPassage {
    /// The text, as that program keeps it.
    pub text: String,
    /// The name that it gives the document.
    pub document: Option<String>,
    /// The server's score.
    pub score: f64,
}

/// A collection of passages that another program made, searched by vectors.
pub trait OthersCollection: Send + Sync {
    /// Returns the `k` passages nearest to a vector, the nearest first.
    ///
    /// # Errors
    /// [`StoreError`] where the server cannot be asked, or a passage has no text.
    fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<OthersPassage>, StoreError>;
}
