//! A collection: opening, making, and asking what is in it.

mod alias;
mod create;
mod inspect;
mod languages;
mod listing;
mod read;

use std::sync::Arc;

use crate::connection::Connection;
use crate::names::title;
use crate::{Bm25, Error, Record, Target, Writer};

pub(crate) use self::alias::{Aliases, ensure_mark, publish};
pub(crate) use self::create::{create, delete};
pub(crate) use self::inspect::{Found, inspect};
pub use self::read::Stored;
pub(crate) use self::read::{payload, scroll};

/// A collection on a server, opened. Cloning it shares the connection; it may be used from many threads.
///
/// All calls block the thread until the server has answered (or has failed to, often enough). An asynchronous program
/// makes them on threads for that, as by tokio's `spawn_blocking`.
#[derive(Clone)]
pub struct Collection {
    pub(crate) connection: Arc<Connection>,
    /// What the caller calls it: searches follow the alias of this name, if it is one.
    pub(crate) name: String,
    /// The collection behind that name when it was opened: all writes go there, even if the alias moves on.
    pub(crate) pinned: String,
    pub(crate) record: Record,
    pub(crate) quantized: bool,
}

impl Collection {
    /// Opens a collection that exists.
    ///
    /// # Errors
    /// [`Error::NoCollection`], [`Error::NotOurs`] and [`Error::Format`] where there is none that we can read;
    /// [`Error::Key`], [`Error::GaveUp`] and [`Error::Refused`] from the server.
    pub fn open(target: &Target) -> Result<Self, Error> {
        let connection = Connection::new(target)?;
        connection.wait(async {
            let name = &target.collection;
            let pinned = alias::resolve(&connection, name).await?.unwrap_or_else(|| name.clone());
            match inspect(&connection, &pinned).await? {
                Some(found) => Ok(Self::new(&connection, name, &pinned, found)),
                None => Err(Error::NoCollection { collection: name.clone(), address: target.address() }),
            }
        })
    }

    /// Opens a collection, and makes it where there is none: under the name `NAME-1`, with the alias `NAME` in front,
    /// so that a [`Rebuild`](crate::Rebuild) can take its place. Many workers may do this at the same time.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::Mismatch`] where it was built with something else than `record` says,
    /// [`Error::Dimension`] where the settings ask for another dimension than the record's, [`Error::IsAnAlias`] where
    /// `NAME-1` is one.
    pub fn open_or_create(target: &Target, record: &Record) -> Result<Self, Error> {
        let connection = Connection::new(target)?;
        connection.wait(async {
            let name = &target.collection;
            expect_dimension(target, record)?;
            let mut pinned = alias::resolve(&connection, name).await?;
            if pinned.is_none() && inspect(&connection, name).await?.is_some() {
                pinned = Some(name.clone());
            }
            let pinned = match pinned {
                Some(pinned) => pinned,
                None => {
                    let first = title(name, 1);
                    create(&connection, &first, record).await?;
                    alias::begin(&connection, name, &first).await?
                }
            };
            let found = Self::expect(&connection, &pinned, record).await?;
            Ok(Self::new(&connection, name, &pinned, found))
        })
    }

    /// What is found at a name must be ours, be built as asked, and be ready to be loaded.
    pub(crate) async fn expect(connection: &Arc<Connection>, pinned: &str, record: &Record) -> Result<Found, Error> {
        let Some(found) = inspect(connection, pinned).await? else {
            let address = connection.target.address();
            return Err(Error::NoCollection { collection: pinned.to_owned(), address });
        };
        found.record.expect(pinned, record)?;
        create::add_indexes(connection, pinned, &found.indexed).await?;
        Ok(found)
    }

    pub(crate) fn new(connection: &Arc<Connection>, name: &str, pinned: &str, found: Found) -> Self {
        Self {
            connection: Arc::clone(connection),
            name: name.to_owned(),
            pinned: pinned.to_owned(),
            record: found.record,
            quantized: found.quantized,
        }
    }

    /// The name that it was opened by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The collection behind the name at that moment; the same where the name is no alias.
    #[must_use]
    pub fn pinned(&self) -> &str {
        &self.pinned
    }

    /// `host:port` of its server.
    #[must_use]
    pub fn address(&self) -> String {
        self.connection.target.address()
    }

    /// Returns the record of the ingredients that it was built with.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The weights of terms in this collection.
    #[must_use]
    pub fn bm25(&self) -> Bm25 {
        Bm25::new(self.record.mean_words)
    }

    /// Deletes the collection with all that is in it, and the alias in front of it.
    ///
    /// # Errors
    /// What the server says.
    pub fn delete(self) -> Result<(), Error> {
        self.connection.wait(create::delete(&self.connection, &self.pinned))
    }

    /// Begins to write.
    #[must_use]
    pub fn writer(&self) -> Writer {
        Writer::new(self)
    }
}

impl std::fmt::Debug for Collection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collection")
            .field("target", &self.connection.target)
            .field("pinned", &self.pinned)
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}

/// The settings may say how long the vectors are; the embedder must agree.
pub(crate) fn expect_dimension(target: &Target, record: &Record) -> Result<(), Error> {
    match (target.settings.dimension, record.dimension().unwrap_or(0)) {
        (Some(expected), found) if found != expected => Err(Error::Dimension {
            what: "the embedder".to_owned(),
            collection: target.collection.clone(),
            found,
            expected,
        }),
        _ => Ok(()),
    }
}
