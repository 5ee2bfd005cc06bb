//! One collection.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::{
    CollectionConfig, CollectionInfo, CollectionParams, CollectionStatus, CreateCollection, CreateFieldIndexCollection,
    Distance, FieldType, Filter, GetPoints, Modifier, OptimizerStatus, PayloadSchemaInfo, PayloadSchemaType, PointId,
    PointStruct, PointsSelector, RetrievedPoint, ScrollPoints, SparseVector, WithPayloadSelector, WithVectorsSelector,
    vector, vectors, vectors_config,
};
use tonic::Status;

use super::model::{Key, PointData, Stored};
use super::{filter, select};

pub(super) struct Store {
    request: CreateCollection,
    /// Length and distance of the dense vectors, by name.
    pub dense: HashMap<String, (usize, Distance)>,
    /// Whether the IDF modifier is on, of the sparse vectors, by name.
    pub sparse: HashMap<String, bool>,
    pub indexes: HashMap<String, FieldType>,
    pub points: BTreeMap<Key, Stored>,
}

impl Store {
    pub fn new(request: CreateCollection) -> Result<Self, Status> {
        let configured = match request.vectors_config.as_ref().and_then(|config| config.config.as_ref()) {
            None => Vec::new(),
            Some(vectors_config::Config::Params(params)) => vec![(String::new(), *params)],
            Some(vectors_config::Config::ParamsMap(map)) => map.map.clone().into_iter().collect(),
        };
        let mut dense = HashMap::new();
        for (name, params) in configured {
            if params.size == 0 || params.distance() == Distance::UnknownDistance {
                return Err(Status::invalid_argument("Validation error: size and distance of a vector"));
            }
            let size = usize::try_from(params.size).unwrap_or(usize::MAX);
            dense.insert(name, (size, params.distance()));
        }
        let sparse = request.sparse_vectors_config.iter().flat_map(|config| &config.map);
        let sparse = sparse.map(|(name, params)| (name.clone(), params.modifier() == Modifier::Idf)).collect();
        Ok(Self { request, dense, sparse, indexes: HashMap::new(), points: BTreeMap::new() })
    }

    pub fn creation(&self) -> String {
        format!("{:?}", self.request)
    }

    #[allow(deprecated, reason = "our own side fills the old field")]
    pub fn info(&self) -> CollectionInfo {
        let request = &self.request;
        let schema = self.indexes.iter().map(|(field, kind)| {
            let data_type = match kind {
                FieldType::Keyword => PayloadSchemaType::Keyword,
                FieldType::Integer => PayloadSchemaType::Integer,
                FieldType::Float => PayloadSchemaType::Float,
                FieldType::Geo => PayloadSchemaType::Geo,
                FieldType::Text => PayloadSchemaType::Text,
                FieldType::Bool => PayloadSchemaType::Bool,
                FieldType::Datetime => PayloadSchemaType::Datetime,
                FieldType::Uuid => PayloadSchemaType::Uuid,
            };
            let points = self.points.values().filter(|point| point.payload.contains_key(field)).count();
            let info = PayloadSchemaInfo { data_type: data_type.into(), params: None, points: Some(points as u64) };
            (field.clone(), info)
        });
        CollectionInfo {
            status: CollectionStatus::Green.into(),
            optimizer_status: Some(OptimizerStatus { ok: true, error: String::new() }),
            segments_count: 1,
            points_count: Some(self.points.len() as u64),
            payload_schema: schema.collect(),
            config: Some(CollectionConfig {
                params: Some(CollectionParams {
                    shard_number: request.shard_number.unwrap_or(1),
                    on_disk_payload: request.on_disk_payload.unwrap_or(true),
                    vectors_config: request.vectors_config.clone(),
                    sparse_vectors_config: request.sparse_vectors_config.clone(),
                    replication_factor: request.replication_factor.or(Some(1)),
                    write_consistency_factor: request.write_consistency_factor.or(Some(1)),
                    ..CollectionParams::default()
                }),
                quantization_config: request.quantization_config,
                metadata: request.metadata.clone(),
                ..CollectionConfig::default()
            }),
            ..CollectionInfo::default()
        }
    }

    pub fn create_index(&mut self, request: &CreateFieldIndexCollection) {
        self.indexes.insert(request.field_name.clone(), request.field_type());
    }

    /// Stores all of the points, or none where one of them is wrong.
    pub fn upsert(&mut self, points: &[PointStruct]) -> Result<(), Status> {
        let parsed: Vec<(Key, Stored)> = points.iter().map(|point| self.parse(point)).collect::<Result<_, _>>()?;
        self.points.extend(parsed);
        Ok(())
    }

    fn parse(&self, point: &PointStruct) -> Result<(Key, Stored), Status> {
        let key = Key::parse(point.id.as_ref())?;
        let mut stored = Stored { payload: point.payload.clone(), ..Stored::default() };
        let named = match point.vectors.as_ref().and_then(|vectors| vectors.vectors_options.as_ref()) {
            None => return Err(Status::invalid_argument("Expected some vectors")),
            Some(vectors::VectorsOptions::Vector(vector)) => vec![(String::new(), vector)],
            Some(vectors::VectorsOptions::Vectors(named)) => {
                named.vectors.iter().map(|(name, vector)| (name.clone(), vector)).collect()
            }
        };
        for (name, vector) in named {
            match &vector.vector {
                Some(vector::Vector::Dense(dense)) => {
                    let vector = self.dense_vector(&name, &dense.data)?;
                    stored.dense.insert(name, vector);
                }
                Some(vector::Vector::Sparse(sparse)) => {
                    self.idf(&name)?;
                    stored.sparse.insert(name, sparse_vector(sparse)?);
                }
                _ => return Err(Status::unimplemented("the test server keeps dense and sparse vectors only")),
            }
        }
        Ok((key, stored))
    }

    /// Checks a dense vector, and brings it to length 1 where the distance is cosine.
    pub fn dense_vector(&self, name: &str, data: &[f32]) -> Result<Vec<f32>, Status> {
        let Some(&(size, distance)) = self.dense.get(name) else { return Err(no_vector(name)) };
        if data.len() != size {
            let message = format!("Wrong input: Vector dimension error: expected dim: {size}, got {}", data.len());
            return Err(Status::invalid_argument(message));
        }
        let length = data.iter().map(|x| x * x).sum::<f32>().sqrt();
        if distance == Distance::Cosine && length > 0.0 {
            return Ok(data.iter().map(|x| x / length).collect());
        }
        Ok(data.to_vec())
    }

    /// Whether a sparse vector has the IDF modifier.
    pub fn idf(&self, name: &str) -> Result<bool, Status> {
        self.sparse.get(name).copied().ok_or_else(|| no_vector(name))
    }

    pub fn delete(&mut self, which: Option<&PointsSelector>, half: bool) -> Result<(), Status> {
        let mut keys: Vec<Key> = match which.and_then(|which| which.points_selector_one_of.as_ref()) {
            Some(PointsSelectorOneOf::Points(list)) => {
                list.ids.iter().map(|id| Key::parse(Some(id))).collect::<Result<_, _>>()?
            }
            Some(PointsSelectorOneOf::Filter(filter)) => self.passing(Some(filter))?.cloned().collect(),
            None => return Err(Status::invalid_argument("PointsSelector is missing")),
        };
        if half {
            keys.truncate(keys.len() / 2);
        }
        for key in keys {
            self.points.remove(&key);
        }
        Ok(())
    }

    /// The points that pass a filter, in order.
    pub fn passing<'a>(&'a self, filter: Option<&'a Filter>) -> Result<impl Iterator<Item = &'a Key>, Status> {
        if let Some(filter) = filter {
            filter::check(filter, &self.indexes)?;
        }
        let passes = move |key: &Key, stored: &Stored| filter.is_none_or(|f| filter::passes(f, key, &stored.payload));
        Ok(self.points.iter().filter(move |(key, stored)| passes(key, stored)).map(|(key, _)| key))
    }

    /// The texts that a field of the payload has, each with the number of its points; the field must have an index.
    pub fn values(&self, field: &str) -> Result<BTreeMap<String, u64>, Status> {
        if !self.indexes.contains_key(field) {
            return Err(Status::invalid_argument(format!("there is no index for the field {field}")));
        }
        let mut counts = BTreeMap::new();
        for value in self.points.values().filter_map(|stored| stored.payload.get(field)?.as_str()) {
            *counts.entry(value.clone()).or_insert(0) += 1;
        }
        Ok(counts)
    }

    pub fn count(&self, filter: Option<&Filter>) -> Result<u64, Status> {
        Ok(self.passing(filter)?.count() as u64)
    }

    pub fn get(&self, request: &GetPoints) -> Result<Vec<RetrievedPoint>, Status> {
        let keys: BTreeSet<Key> = request.ids.iter().map(|id| Key::parse(Some(id))).collect::<Result<_, _>>()?;
        let found = keys.iter().filter(|key| self.points.contains_key(key));
        Ok(found.map(|key| self.show(key, request.with_payload.as_ref(), request.with_vectors.as_ref())).collect())
    }

    pub fn scroll(&self, request: &ScrollPoints) -> Result<(Vec<RetrievedPoint>, Option<PointId>), Status> {
        if request.order_by.is_some() {
            return Err(Status::unimplemented("the test server lists points in the order of their ids only"));
        }
        let from = request.offset.as_ref().map(|id| Key::parse(Some(id))).transpose()?;
        let limit = request.limit.unwrap_or(10) as usize;
        if limit == 0 {
            return Err(Status::invalid_argument("Validation error: limit: value 0 invalid, must be 1 or larger"));
        }
        let mut keys = self.passing(request.filter.as_ref())?.skip_while(|key| from.as_ref().is_some_and(|f| *key < f));
        let page: Vec<&Key> = keys.by_ref().take(limit).collect();
        let next = keys.next().map(Key::to_id);
        let show = |key| self.show(key, request.with_payload.as_ref(), request.with_vectors.as_ref());
        Ok((page.into_iter().map(show).collect(), next))
    }

    fn show(
        &self,
        key: &Key,
        payload: Option<&WithPayloadSelector>,
        vectors: Option<&WithVectorsSelector>,
    ) -> RetrievedPoint {
        let stored = self.points.get(key).cloned().unwrap_or_default();
        RetrievedPoint {
            id: Some(key.to_id()),
            vectors: select::vectors(&stored, vectors),
            payload: select::payload(stored.payload, payload),
            ..RetrievedPoint::default()
        }
    }

    pub fn dump(&self) -> BTreeMap<String, PointData> {
        let shown = self.points.iter().map(|(key, stored)| {
            let name = match key {
                Key::Number(number) => number.to_string(),
                Key::Uuid(uuid) => uuid.to_string(),
            };
            let payload = stored.payload.clone().into_iter().map(|(field, value)| (field, value.into_json())).collect();
            let payload = serde_json::Value::Object(payload);
            (name, PointData { payload, dense: stored.dense.clone(), sparse: stored.sparse.clone() })
        });
        shown.collect()
    }
}

fn no_vector(name: &str) -> Status {
    Status::invalid_argument(format!("Wrong input: Not existing vector name error: {name}"))
}

/// Checks a sparse vector.
pub(super) fn sparse_vector(sparse: &SparseVector) -> Result<BTreeMap<u32, f32>, Status> {
    if sparse.indices.len() != sparse.values.len() {
        return Err(Status::invalid_argument("Validation error: indices and values must be of the same length"));
    }
    let entries: BTreeMap<u32, f32> = sparse.indices.iter().copied().zip(sparse.values.iter().copied()).collect();
    if entries.len() != sparse.indices.len() {
        return Err(Status::invalid_argument("Validation error: indices must be unique"));
    }
    Ok(entries)
}
