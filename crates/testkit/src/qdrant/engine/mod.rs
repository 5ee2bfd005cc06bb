//! Collections and aliases, all behind one lock: every call sees and leaves a whole state.

mod filter;
mod model;
mod query;
mod select;
mod store;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use qdrant_client::qdrant::alias_operations::Action;
use qdrant_client::qdrant::{
    AliasOperations, CollectionInfo, CreateCollection, CreateFieldIndexCollection, Filter, GetPoints, PointId,
    PointStruct, PointsSelector, QueryPoints, RetrievedPoint, ScoredPoint, ScrollPoints,
};
use tonic::Status;

pub use self::model::PointData;
use self::store::Store;

#[derive(Default)]
pub(in crate::qdrant) struct Engine {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    collections: BTreeMap<String, Store>,
    aliases: BTreeMap<String, String>,
}

impl State {
    fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    fn get(&self, name: &str) -> Result<&Store, Status> {
        self.collections.get(self.resolve(name)).ok_or_else(|| missing(name))
    }

    fn get_mut(&mut self, name: &str) -> Result<&mut Store, Status> {
        let name = self.resolve(name).to_owned();
        self.collections.get_mut(&name).ok_or_else(|| missing(&name))
    }
}

fn missing(name: &str) -> Status {
    Status::not_found(format!("Not found: Collection `{name}` doesn't exist!"))
}

impl Engine {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn create(&self, request: CreateCollection) -> Result<(), Status> {
        let mut state = self.state();
        let name = request.collection_name.clone();
        if state.collections.contains_key(&name) || state.aliases.contains_key(&name) {
            return Err(Status::already_exists(format!("Wrong input: Collection `{name}` already exists!")));
        }
        let store = Store::new(request)?;
        state.collections.insert(name, store);
        Ok(())
    }

    /// Drops a collection and the aliases in front of it; false where there is none.
    pub fn drop_collection(&self, name: &str) -> bool {
        let mut state = self.state();
        state.aliases.retain(|_, collection| collection != name);
        state.collections.remove(name).is_some()
    }

    pub fn names(&self) -> Vec<String> {
        self.state().collections.keys().cloned().collect()
    }

    pub fn aliases(&self) -> BTreeMap<String, String> {
        self.state().aliases.clone()
    }

    /// Makes the changes one by one, and stops at the first that cannot be made: as a real server does, which keeps those
    /// before it.
    pub fn change_aliases(&self, actions: &[AliasOperations]) -> Result<(), Status> {
        let mut state = self.state();
        for action in actions {
            match action.action.clone() {
                Some(Action::CreateAlias(create)) => {
                    if !state.collections.contains_key(&create.collection_name) {
                        return Err(missing(&create.collection_name));
                    }
                    if state.collections.contains_key(&create.alias_name) {
                        let name = create.alias_name;
                        let message = format!("Wrong input: Collection `{name}` already exists!");
                        return Err(Status::already_exists(message));
                    }
                    state.aliases.insert(create.alias_name, create.collection_name);
                }
                Some(Action::DeleteAlias(delete)) => {
                    state.aliases.remove(&delete.alias_name);
                }
                Some(Action::RenameAlias(rename)) => match state.aliases.remove(&rename.old_alias_name) {
                    Some(collection) => drop(state.aliases.insert(rename.new_alias_name, collection)),
                    None => {
                        let message = format!("Not found: Alias {} does not exists!", rename.old_alias_name);
                        return Err(Status::not_found(message));
                    }
                },
                None => return Err(Status::invalid_argument("an alias operation without an action")),
            }
        }
        Ok(())
    }

    pub fn info(&self, name: &str) -> Result<CollectionInfo, Status> {
        Ok(self.state().get(name)?.info())
    }

    pub fn create_index(&self, request: &CreateFieldIndexCollection) -> Result<(), Status> {
        self.state().get_mut(&request.collection_name)?.create_index(request);
        Ok(())
    }

    pub fn upsert(&self, collection: &str, points: &[PointStruct]) -> Result<(), Status> {
        self.state().get_mut(collection)?.upsert(points)
    }

    pub fn delete(&self, collection: &str, which: Option<&PointsSelector>, half: bool) -> Result<(), Status> {
        self.state().get_mut(collection)?.delete(which, half)
    }

    pub fn get(&self, request: &GetPoints) -> Result<Vec<RetrievedPoint>, Status> {
        self.state().get(&request.collection_name)?.get(request)
    }

    pub fn scroll(&self, request: &ScrollPoints) -> Result<(Vec<RetrievedPoint>, Option<PointId>), Status> {
        self.state().get(&request.collection_name)?.scroll(request)
    }

    pub fn count(&self, collection: &str, filter: Option<&Filter>) -> Result<u64, Status> {
        self.state().get(collection)?.count(filter)
    }

    pub fn values(&self, collection: &str, field: &str) -> Result<BTreeMap<String, u64>, Status> {
        self.state().get(collection)?.values(field)
    }

    pub fn query(&self, request: QueryPoints) -> Result<Vec<ScoredPoint>, Status> {
        self.state().get(&request.collection_name)?.query(request)
    }

    pub fn dump(&self, collection: &str) -> BTreeMap<String, PointData> {
        self.state().get(collection).map(Store::dump).unwrap_or_default()
    }

    pub fn creation(&self, collection: &str) -> Option<String> {
        self.state().get(collection).ok().map(Store::creation)
    }
}
