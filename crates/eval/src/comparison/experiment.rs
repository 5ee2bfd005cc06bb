use super::Named;

/// Budgets of context in tokens; the largest decides.
const BUDGETS: [usize; 3] = [256, 512, 1024];
/// Numbers of chunks that are measured beside the budgets.
const CHUNKS: usize = 5;

/// A comparison of chunkers by how much of the answers their chunks hold, at equal budgets of context.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The path of the questions, in SQuAD's layout.
    pub questions: &'a str,
    /// Seed of the samples and the statistics.
    pub seed: u64,
    /// The chunkers; the first is what the others are compared with.
    pub chunkers: &'a [Named],
    /// Spec of the embedder, or `none`: chunks are found by words alone.
    pub embedder: &'a str,
    /// Further lines of `[retrieval]`, each with its line end.
    pub more: &'a str,
}

impl Comparison<'_> {
    /// Returns it as the file of an experiment on retrieval, which users can change and run.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let Self { seed, more, .. } = self;
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let mode = if self.embedder == "none" { "bm25" } else { "hybrid" };
        let largest = BUDGETS.into_iter().max().unwrap_or_default();
        let baseline = self.chunkers.first().map(|first| first.name.as_str()).unwrap_or_default();
        let tables: Vec<String> = (self.chunkers.iter())
            .map(|named| format!("[[chunker]]\nname = {}\nspec = {}\n", quoted(&named.name), quoted(&named.spec)))
            .collect();
        format!(
            "kind = \"retrieval\"\n\
             name = \"compare\"\n\n\
             [data]\n\
             kind = \"squad\"\n\
             path = {path}\n\
             seed = {seed}\n\n\
             [retrieval]\n\
             embedder = {embedder}\n\
             {more}modes = [\"{mode}\"]\n\
             k = [{CHUNKS}]\n\
             token_budgets = {BUDGETS:?}        # every chunker gives the reader as many tokens\n\n\
             [compare]                              # what decides\n\
             baseline = {baseline}\n\
             primary = {{ metric = \"span_recall\", tokens = {largest}, mode = \"{mode}\" }}\n\n\
             {tables}\n\
             [answer]\n\
             generator = \"none\"                     # retrieval alone: \"extractive\" or \"llm\" answers too\n\n\
             [judge]\n\
             kind = \"none\"\n",
            path = quoted(self.questions),
            embedder = quoted(self.embedder),
            baseline = quoted(baseline),
            tables = tables.join("\n"),
        )
    }
}
