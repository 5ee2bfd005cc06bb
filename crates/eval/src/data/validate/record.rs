use serde::Serialize;

/// What is thought of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing answers it, on purpose (SQuAD 2.0): it is not asked.
    Unanswerable,
    /// Nothing speaks against it.
    Fine,
    /// It can be used, and measures something else than it seems to.
    Doubtful,
    /// Its answer is not where it says.
    Broken,
}

/// The rank of what holds the answer, from 1, when words alone search (BM25); absent where it is not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ranks {
    /// Of the document, by its best passage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    /// Of the best passage of about 100 words that holds a part of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage: Option<usize>,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Validated {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its id; empty where the file gives none.
    pub id: String,
    /// The id of its document.
    pub document: String,
    /// What is asked.
    pub question: String,
    /// What is thought of it.
    pub verdict: Verdict,
    /// What speaks against it, a sentence each.
    pub problems: Vec<String>,
    /// How hard it is.
    pub rank: Ranks,
}

/// How hard the questions are for a search by words (BM25), as shares of those that can be asked, 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Hardness {
    /// The document comes first.
    pub document_first: f64,
    /// The document is among the first ten.
    pub document_in_ten: f64,
    /// A passage with a part of the answer comes first.
    pub passage_first: f64,
    /// Such a passage is among the first ten.
    pub passage_in_ten: f64,
    /// No passage with a part of the answer shares a word with the question.
    pub not_found: f64,
}

/// What is thought of a question file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Validation {
    /// Documents that can be read.
    pub documents: usize,
    /// Questions of the file.
    pub questions: usize,
    /// Questions against which nothing speaks.
    pub fine: usize,
    /// Questions that measure something else than they seem to.
    pub doubtful: usize,
    /// Questions whose answers are not where they say, and documents that cannot be read.
    pub broken: usize,
    /// Questions without an answer on purpose (`is_impossible`): they are not asked.
    pub unanswerable: usize,
    /// How hard they are.
    pub hardness: Hardness,
    /// What is wrong with whole documents, a line each.
    pub documents_broken: Vec<String>,
    /// The questions in file order.
    pub items: Vec<Validated>,
}
