//! The data of a collection.

use std::collections::{BTreeMap, HashMap};

use qdrant_client::qdrant::{PointId, Value, point_id};
use tonic::Status;
use uuid::Uuid;

/// The id of a point, in the order of a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Number(u64),
    Uuid(Uuid),
}

impl Key {
    pub fn parse(id: Option<&PointId>) -> Result<Self, Status> {
        match id.and_then(|id| id.point_id_options.as_ref()) {
            Some(point_id::PointIdOptions::Num(number)) => Ok(Self::Number(*number)),
            Some(point_id::PointIdOptions::Uuid(text)) => Uuid::parse_str(text)
                .map(Self::Uuid)
                .map_err(|_| Status::invalid_argument(format!("Unable to parse UUID: {text}"))),
            None => Err(Status::invalid_argument("Expected an id for the point")),
        }
    }

    pub fn to_id(&self) -> PointId {
        let options = match self {
            Self::Number(number) => point_id::PointIdOptions::Num(*number),
            Self::Uuid(uuid) => point_id::PointIdOptions::Uuid(uuid.to_string()),
        };
        PointId { point_id_options: Some(options) }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Stored {
    pub payload: HashMap<String, Value>,
    pub dense: BTreeMap<String, Vec<f32>>,
    pub sparse: BTreeMap<String, BTreeMap<u32, f32>>,
}

/// What a test sees of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointData {
    /// Its payload.
    pub payload: serde_json::Value,
    /// Its dense vectors by name.
    pub dense: BTreeMap<String, Vec<f32>>,
    /// Its sparse vectors by name.
    pub sparse: BTreeMap<String, BTreeMap<u32, f32>>,
}
