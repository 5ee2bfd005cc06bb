//! The rerankers that a service was started with.

use super::{NamedReranker, Problem, is_name};

/// The word by which a request asks for the order of the search.
const NONE: &str = "none";

/// Rerankers by name. Requests choose among them, and can name nothing else: no file and no address.
pub(super) struct Rerankers {
    named: Vec<NamedReranker>,
    depth: usize,
}

impl Rerankers {
    /// # Errors
    /// [`Problem`] (400) for a name that is none, and one that is given twice.
    pub(super) fn new(named: Vec<NamedReranker>, depth: usize) -> Result<Self, Problem> {
        for (at, NamedReranker { name, .. }) in named.iter().enumerate() {
            if !is_name(name) || name == NONE {
                return Err(Problem::parameter(format!(
                    "`{name}` is no name for a reranker: give it another, NAME=SPEC"
                )));
            }
            if named.iter().take(at).any(|other| other.name == *name) {
                return Err(Problem::parameter(format!(
                    "two rerankers are called {name}: give each a name of its own, NAME=SPEC"
                )));
            }
        }
        Ok(Self { named, depth })
    }

    /// The names, the default one first.
    pub(super) fn names(&self) -> Vec<String> {
        self.named.iter().map(|one| one.name.clone()).collect()
    }

    /// The reranker that a request means; nothing where the order of the search is to stay.
    ///
    /// # Errors
    /// [`Problem`] (400) for a name that there is not.
    pub(super) fn of(&self, asked: Option<&str>) -> Result<Option<&NamedReranker>, Problem> {
        match asked {
            None => Ok(self.named.first()),
            Some(NONE) => Ok(None),
            Some(name) => self.named.iter().find(|one| one.name == name).map(Some).ok_or_else(|| {
                let known = [vec![NONE.to_owned()], self.names()].concat().join(", ");
                let detail = format!("there is no reranker `{name}` here; the server was started with these: {known}");
                Problem::new(400, "no-such-reranker", "The reranker is not there", detail)
            }),
        }
    }

    /// The hits that are scored where `k` are asked for.
    pub(super) fn depth(&self, k: usize) -> usize {
        self.depth.max(k)
    }
}
