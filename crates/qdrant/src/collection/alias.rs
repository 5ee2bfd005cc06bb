//! Aliases: what they stand for, and how they are switched.
//!
//! A server knows no "switch the alias if it still stands for this". It does know one conditional change, though: renaming
//! an alias that is not there fails, and with it the rest of the request. So the published collection has a second alias,
//! its mark, and a switch begins by renaming the mark of the collection that it replaces. Of two that replace the same one
//! the second finds no mark, and has changed nothing. The alias itself is overwritten, never deleted, so that no server
//! loses it that stops halfway through a request.

use qdrant_client::qdrant::alias_operations::Action;
use qdrant_client::qdrant::{AliasOperations, ChangeAliases, CreateAlias, ListAliasesRequest, RenameAlias};
use tonic::{Code, Response};

use super::inspect::inspect;
use crate::Error;
use crate::connection::{Connection, Purpose};
use crate::names::{is_mark, mark, number_of, title};

/// How often a switch is tried that others overtake.
const ROUNDS: usize = 16;
/// The name of the call.
const SWITCHING: &str = "switching the alias";

/// All aliases of a server at one moment.
pub(crate) struct Aliases(Vec<(String, String)>);

impl Aliases {
    pub async fn list(connection: &Connection) -> Result<Self, Error> {
        let response = connection
            .call("listing the aliases", Purpose::Read, || {
                let mut client = connection.collections.clone();
                async move { client.list_aliases(ListAliasesRequest {}).await }
            })
            .await?;
        Ok(Self(response.aliases.into_iter().map(|a| (a.alias_name, a.collection_name)).collect()))
    }

    /// The collection that an alias stands for.
    pub fn behind(&self, alias: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == alias).map(|(_, collection)| collection.as_str())
    }

    /// True for a collection that has its mark.
    fn is_marked(&self, collection: &str) -> bool {
        self.behind(&mark(collection)) == Some(collection)
    }

    /// The largest number of a collection of `name` that is or was published.
    fn newest(&self, name: &str) -> Option<u64> {
        let published = self.0.iter().filter(|(alias, behind)| alias == name || *alias == mark(behind));
        published.filter_map(|(_, behind)| number_of(name, behind)).max()
    }

    /// True for a collection that some alias stands for; the marks of `name` do not count.
    pub fn serve(&self, name: &str, collection: &str) -> bool {
        self.0.iter().any(|(alias, behind)| behind == collection && !is_mark(name, alias))
    }
}

/// The collection that an alias stands for; nothing where there is no such alias.
pub(crate) async fn resolve(connection: &Connection, alias: &str) -> Result<Option<String>, Error> {
    Ok(Aliases::list(connection).await?.behind(alias).map(str::to_owned))
}

fn point(alias: &str, collection: &str) -> Action {
    Action::CreateAlias(CreateAlias { collection_name: collection.to_owned(), alias_name: alias.to_owned() })
}

fn rename(old: String, new: String) -> Action {
    Action::RenameAlias(RenameAlias { old_alias_name: old, new_alias_name: new })
}

/// Makes the changes in one request, in this order; false where an alias or a collection that they name is not there. A
/// server may stop at the first that fails, with those before it done.
async fn change(connection: &Connection, actions: Vec<Action>) -> Result<bool, Error> {
    let actions = actions.into_iter().map(|action| AliasOperations { action: Some(action) }).collect();
    let request = ChangeAliases { actions, ..ChangeAliases::default() };
    connection
        .call(SWITCHING, Purpose::Load, || {
            let mut client = connection.collections.clone();
            let request = request.clone();
            async move {
                match client.update_aliases(request).await {
                    Err(status) if status.code() == Code::NotFound => Ok(Response::new(false)),
                    other => other.map(|_| Response::new(true)),
                }
            }
        })
        .await
}

/// Puts the alias in front of its first collection, and returns what it stands for then: many workers may do this at the
/// same time, and one of them may have published a rebuild already.
pub(crate) async fn begin(connection: &Connection, alias: &str, first: &str) -> Result<String, Error> {
    if let Some(behind) = resolve(connection, alias).await? {
        return Ok(behind);
    }
    change(connection, vec![point(alias, first)]).await?;
    let reason = || format!("`{alias}` was made and is not there");
    resolve(connection, alias).await?.ok_or_else(|| connection.unusable(SWITCHING, reason()))
}

/// Marks the collection that an alias stands for, so that switches away from it exclude each other.
pub(crate) async fn ensure_mark(connection: &Connection, aliases: &Aliases, alias: &str) -> Result<(), Error> {
    match aliases.behind(alias) {
        Some(current) if !aliases.is_marked(current) => {
            change(connection, vec![point(&mark(current), current)]).await.map(drop)
        }
        _ => Ok(()),
    }
}

/// Makes an alias stand for collection `next` of its own, in one request, and looks whether it does. Where a newer one is
/// published, or about to be, that stays or becomes what it stands for.
pub(crate) async fn publish(connection: &Connection, alias: &str, next: &str) -> Result<(), Error> {
    let (name, collection, address) = (alias.to_owned(), next.to_owned(), connection.target.address());
    let mut goal = next.to_owned();
    for _ in 0..ROUNDS {
        let aliases = Aliases::list(connection).await?;
        if let Some(newest) = aliases.newest(alias).filter(|newest| Some(*newest) > number_of(alias, &goal)) {
            goal = title(alias, newest);
        }
        let current = aliases.behind(alias);
        match current {
            Some(current) if current == goal && goal == next => return Ok(()),
            Some(current) if current == goal => {
                return Err(Error::Superseded { name, collection, newer: goal, address });
            }
            Some(current) if !aliases.is_marked(current) => {
                // Made by an older version, or by a request that stopped halfway.
                ensure_mark(connection, &aliases, alias).await?;
                continue;
            }
            _ => {}
        }
        let mut actions: Vec<Action> = current.map(|current| rename(mark(current), mark(&goal))).into_iter().collect();
        actions.extend([point(&mark(&goal), &goal), point(alias, &goal)]);
        // Where the mark is gone somebody else was faster, or the answer to an earlier attempt was lost.
        if !change(connection, actions).await? && goal == next && inspect(connection, next).await?.is_none() {
            return Err(Error::Gone { name, collection, address });
        }
    }
    Err(connection.unusable(SWITCHING, format!("`{alias}` does not stand for `{goal}` after {ROUNDS} attempts")))
}
