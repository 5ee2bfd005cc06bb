use std::sync::Arc;

use qdrant_client::qdrant::ListCollectionsRequest;

use crate::collection::{Aliases, Found, create, delete, ensure_mark, expect_dimension, inspect, publish};
use crate::connection::{Connection, Purpose};
use crate::names::{number_of, title};
use crate::{Collection, Error, Record, Target};

/// A collection that is built anew beside the one that is being searched, and takes its place in one step.
///
/// The collections behind the alias `NAME` are called `NAME-1`, `NAME-2` and so on. A rebuild that was interrupted is
/// taken up again: the newest one that was never published, where it was begun with the same record; it may hold
/// documents that are gone from the source since, which [`Collection::documents`] lists. Many workers may take part; one
/// of them publishes when all are done. Numbers whose names are aliases are passed over, and a collection behind another
/// alias is neither taken up nor deleted. Of two rebuilds that are published at the same time the newer one stays.
pub struct Rebuild {
    next: Collection,
    number: u64,
}

impl Rebuild {
    /// Begins a rebuild, or takes one up.
    ///
    /// # Errors
    /// [`Error::NotAnAlias`] where the name is a collection's own; [`Error::NotOfEvaluation`] where an evaluation's would
    /// take the place of another; [`Error::Dimension`], and what the server says, as in [`Collection::open_or_create`].
    pub fn begin(target: &Target, record: &Record) -> Result<Self, Error> {
        let connection = Connection::new(target)?;
        connection.wait(async {
            expect_dimension(target, record)?;
            let name = &target.collection;
            let aliases = Aliases::list(&connection).await?;
            let existing = list(&connection).await?;
            let current = aliases.behind(name);
            if current.is_none() && existing.contains(name) {
                let address = target.address();
                return Err(Error::NotAnAlias { collection: name.clone(), address });
            }
            if record.is_of_evaluation() {
                expect_evaluations(&connection, &aliases, name, &existing).await?;
            }
            ensure_mark(&connection, &aliases, name).await?;
            let published = current.and_then(|current| number_of(name, current)).unwrap_or(0);
            let newest = existing.iter().filter_map(|collection| number_of(name, collection)).max().unwrap_or(0);
            let unfinished = match newest > published && !aliases.serve(name, &title(name, newest)) {
                true => ours(&connection, &title(name, newest)).await?,
                false => None,
            };
            let number = match unfinished {
                Some(found) if found.record.expect(name, record).is_ok() => newest,
                // Under the name of an alias the writes would go to the corpus behind it.
                _ => (newest.max(published).saturating_add(1)..)
                    .find(|&number| aliases.behind(&title(name, number)).is_none())
                    .unwrap_or(u64::MAX),
            };
            let pinned = title(name, number);
            create(&connection, &pinned, record).await?;
            let found = Collection::expect(&connection, &pinned, record).await?;
            Ok(Self { next: Collection::new(&connection, name, &pinned, found), number })
        })
    }

    /// The collection that is being built: to write into. A search on it follows the alias, to the published one.
    #[must_use]
    pub fn collection(&self) -> &Collection {
        &self.next
    }

    /// Makes the alias stand for the new collection, and deletes the older ones where `drop_old` is set. The writers
    /// must have been flushed.
    ///
    /// # Errors
    /// [`Error::Superseded`] where a newer rebuild was published first, [`Error::Gone`] where one deleted this
    /// collection, [`Error::NotDropped`] where all is published and an old collection could not be deleted; and what the
    /// server says. An alias that could not be switched stands for what it stood for before.
    pub fn publish(self, drop_old: bool) -> Result<Collection, Error> {
        let Self { next, number } = self;
        let connection = Arc::clone(&next.connection);
        connection.wait(async {
            publish(&connection, &next.name, &next.pinned).await?;
            if drop_old {
                drop_older(&connection, &next.name, number).await.map_err(|reason| Error::NotDropped {
                    name: next.name.clone(),
                    published: next.pinned.clone(),
                    reason: reason.to_string(),
                })?;
            }
            Ok(())
        })?;
        Ok(next)
    }
}

/// Refuses to take the place of collections that were not made to be measured in: somebody searches them.
async fn expect_evaluations(
    connection: &Connection,
    aliases: &Aliases,
    name: &str,
    existing: &[String],
) -> Result<(), Error> {
    let current = aliases.behind(name);
    let mut all: Vec<&str> = current.into_iter().collect();
    for other in existing {
        if number_of(name, other).is_some() && !aliases.serve(name, other) {
            all.push(other);
        }
    }
    for collection in all {
        let is_one = match inspect(connection, collection).await {
            Ok(found) => found.is_none_or(|found| found.record.is_of_evaluation()),
            // What others made is not deleted, but the alias would be taken from it.
            Err(Error::NotOurs { .. } | Error::Format { .. }) => current != Some(collection),
            Err(error) => return Err(error),
        };
        if !is_one {
            let address = connection.target.address();
            return Err(Error::NotOfEvaluation { name: name.to_owned(), collection: collection.to_owned(), address });
        }
    }
    Ok(())
}

/// Deletes the collections of `name` with smaller numbers that no alias stands for: nobody can publish one of them any
/// more, since a switch only goes to larger numbers.
async fn drop_older(connection: &Connection, name: &str, number: u64) -> Result<(), Error> {
    for old in list(connection).await? {
        let is_older = number_of(name, &old).is_some_and(|old| old < number);
        if !is_older || ours(connection, &old).await?.is_none() {
            continue;
        }
        // Asked each time: somebody may have put an alias of their own in front of it since.
        if !Aliases::list(connection).await?.serve(name, &old) {
            delete(connection, &old).await?;
        }
    }
    Ok(())
}

async fn list(connection: &Connection) -> Result<Vec<String>, Error> {
    let response = connection
        .call("listing the collections", Purpose::Load, || {
            let mut client = connection.collections.clone();
            async move { client.list(ListCollectionsRequest {}).await }
        })
        .await?;
    Ok(response.collections.into_iter().map(|collection| collection.name).collect())
}

/// The collection of that name, if it is one of ours and in our format: what others made is left alone.
async fn ours(connection: &Connection, collection: &str) -> Result<Option<Found>, Error> {
    match inspect(connection, collection).await {
        Err(Error::NotOurs { .. } | Error::Format { .. }) => Ok(None),
        other => other,
    }
}
