use std::collections::{HashMap, HashSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use pericope_api::Embeddings;
use pericope_store::ChunkEntry;
use qdrant_edge::{
    CreateIndex, Distance, EdgeConfig, EdgeOptimizersConfig, EdgeShard, EdgeVectorParams, FieldIndexOperations, Filter,
    JsonPath, NamedQuery, OperationResult, PayloadFieldSchema, PayloadSchemaType, PointId, PointInsertOperations,
    PointOperations, PointStruct, QueryEnum, ScrollRequest, SearchParams, SearchRequest, UpdateOperation,
    VectorStructInternal, WalOptions, WithPayloadInterface, WithVector,
};
use uuid::Uuid;

use crate::IndexError;
use crate::plugin::ChunkPayload;

/// Points in one operation of the shard.
const BATCH: usize = 256;
/// Ids read at a time when all points are listed.
const PAGE: usize = 8192;
/// Size of the log's files: small, since nothing is ever replayed from them.
const LOG_FILE_BYTES: usize = 8 << 20;
/// How long to wait for another process to let the vectors go.
const PATIENCE: Duration = Duration::from_secs(5);

/// The shards that are open in this process, by folder: the engine lets a folder be opened once, and a program that
/// searches while it writes opens it twice.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<VectorStore>>>> = LazyLock::new(Mutex::default);

/// One Qdrant shard in one folder: cosine vectors that are searched exactly, never through a graph, so that what a
/// search finds depends on the vectors alone.
pub(crate) struct VectorStore {
    path: PathBuf,
    dimension: usize,
    /// Nothing only while it is being dropped.
    shard: Option<EdgeShard>,
}

impl VectorStore {
    /// Opens the shard in `path` (`dir` is the index around it); makes it where there is none and `create` is set.
    pub fn open(dir: &Path, path: &Path, dimension: usize, create: bool) -> Result<Arc<Self>, IndexError> {
        if create {
            fs::create_dir_all(path).map_err(IndexError::io(path))?;
        }
        let key = fs::canonicalize(path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => IndexError::corrupt(path, "the vectors are gone"),
            _ => IndexError::Io { path: path.to_owned(), source: e },
        })?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = open.get(&key).and_then(Weak::upgrade) {
            return Ok(store);
        }
        let deadline = Instant::now() + PATIENCE;
        let shard = loop {
            match Self::load(path, dimension, create) {
                Ok(shard) => break shard,
                // The engine reports its lock (flock on the log's folder) as the system's error, inside a message.
                Err(reason) if reason.contains("WouldBlock") => {
                    if Instant::now() >= deadline {
                        return Err(IndexError::VectorsInUse { dir: dir.to_owned() });
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(reason) => return Err(IndexError::corrupt(path, reason)),
            }
        };
        let store = Arc::new(Self { path: path.to_owned(), dimension, shard: Some(shard) });
        let found = store.run(|shard| Ok(shard.config().vectors.get("").map(|v| v.size)))?;
        if found != Some(dimension) {
            let found = found.map_or_else(|| "no".to_owned(), |n| n.to_string());
            return Err(IndexError::corrupt(path, format!("it has {found} dimensions, not {dimension}")));
        }
        open.retain(|_, store| store.strong_count() > 0);
        open.insert(key, Arc::downgrade(&store));
        Ok(store)
    }

    /// True while some part of this process has the shard open.
    pub fn is_open(path: &Path) -> bool {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        fs::canonicalize(path).is_ok_and(|key| open.get(&key).is_some_and(|store| store.strong_count() > 0))
    }

    fn load(path: &Path, dimension: usize, create: bool) -> Result<EdgeShard, String> {
        let fresh = !path.join("edge_config.json").exists()
            && fs::read_dir(path.join("segments")).map_or(true, |mut files| files.next().is_none());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            if fresh && create {
                let shard = EdgeShard::new(path, config(dimension))?;
                let index = FieldIndexOperations::CreateIndex(CreateIndex {
                    field_name: "document"
                        .parse::<JsonPath>()
                        .map_err(|()| qdrant_edge::OperationError::validation_error("`document` is no payload key"))?,
                    field_schema: Some(PayloadFieldSchema::FieldType(PayloadSchemaType::Keyword)),
                });
                shard.update(UpdateOperation::FieldIndexOperation(index))?;
                shard.flush();
                Ok(shard)
            } else {
                EdgeShard::load(path, None)
            }
        }));
        flatten(outcome)
    }

    /// Number of points, without looking at each.
    pub fn len(&self) -> Result<u64, IndexError> {
        self.run(|shard| Ok(shard.info().points_count as u64))
    }

    /// Number of points, counted.
    #[cfg(test)]
    pub fn count(&self) -> Result<usize, IndexError> {
        self.run(|shard| shard.count(qdrant_edge::CountRequest { filter: None, exact: true }))
    }

    /// Runs an operation; the engine's errors and panics both become ours.
    fn run<T>(&self, operation: impl FnOnce(&EdgeShard) -> OperationResult<T>) -> Result<T, IndexError> {
        let Some(shard) = &self.shard else {
            return Err(IndexError::corrupt(&self.path, "the shard is closed"));
        };
        flatten(catch_unwind(AssertUnwindSafe(|| operation(shard))))
            .map_err(|reason| IndexError::Vectors { path: self.path.clone(), reason })
    }

    /// Writes points, over those that have the same ids.
    pub fn upsert(&self, entries: &[ChunkEntry], vectors: &Embeddings) -> Result<(), IndexError> {
        if entries.len() != vectors.len() || (!entries.is_empty() && vectors.dimension() != self.dimension) {
            let reason = format!(
                "{} vectors of {} dimensions for {} chunks of {}",
                vectors.len(),
                vectors.dimension(),
                entries.len(),
                self.dimension
            );
            return Err(IndexError::Vectors { path: self.path.clone(), reason });
        }
        for (i, batch) in entries.chunks(BATCH).enumerate() {
            let points = batch.iter().zip(i * BATCH..).map(|(entry, row)| {
                let payload = serde_json::to_value(ChunkPayload::of_place(entry))
                    .map_err(|e| IndexError::Vectors { path: self.path.clone(), reason: e.to_string() })?;
                Ok(PointStruct::new(PointId::Uuid(entry.id), vectors.row(row).to_vec(), payload).into())
            });
            let points = PointInsertOperations::PointsList(points.collect::<Result<_, IndexError>>()?);
            self.run(|shard| shard.update(UpdateOperation::PointOperation(PointOperations::UpsertPoints(points))))?;
        }
        Ok(())
    }

    pub fn delete(&self, points: &[Uuid]) -> Result<(), IndexError> {
        for batch in points.chunks(PAGE) {
            let ids = batch.iter().map(|&id| PointId::Uuid(id)).collect();
            self.run(|shard| shard.update(UpdateOperation::PointOperation(PointOperations::DeletePoints { ids })))?;
        }
        Ok(())
    }

    pub fn flush(&self) -> Result<(), IndexError> {
        self.run(|shard| {
            shard.flush();
            Ok(())
        })?;
        trim_log(&self.path);
        Ok(())
    }

    /// Rewrites segments that are mostly deleted points.
    pub fn vacuum(&self) -> Result<(), IndexError> {
        self.run(|shard| shard.optimize().map(|_| ()))
    }

    /// Deletes the points whose ids are not in `known`; says how many there were.
    pub fn keep_only(&self, known: &HashSet<Uuid>) -> Result<usize, IndexError> {
        let mut unknown = self.all_points()?;
        unknown.retain(|id| !known.contains(id));
        self.delete(&unknown)?;
        self.flush()?;
        Ok(unknown.len())
    }

    /// The vectors of those points that are there.
    pub fn vectors_of(&self, points: &[Uuid]) -> Result<HashMap<Uuid, Vec<f32>>, IndexError> {
        let mut vectors = HashMap::with_capacity(points.len());
        for batch in points.chunks(PAGE) {
            let ids: Vec<PointId> = batch.iter().map(|&id| PointId::Uuid(id)).collect();
            let records = self.run(|shard| {
                shard.retrieve(&ids, Some(WithPayloadInterface::Bool(false)), Some(WithVector::Bool(true)))
            })?;
            for record in records {
                if let (PointId::Uuid(id), Some(VectorStructInternal::Single(vector))) = (record.id, record.vector) {
                    vectors.insert(id, vector);
                }
            }
        }
        Ok(vectors)
    }

    /// The ids of all points.
    pub fn all_points(&self) -> Result<Vec<Uuid>, IndexError> {
        let mut points = Vec::new();
        let mut offset = None;
        loop {
            let request = ScrollRequest {
                offset,
                limit: Some(PAGE),
                filter: None,
                with_payload: Some(WithPayloadInterface::Bool(false)),
                with_vector: WithVector::Bool(false),
                order_by: None,
            };
            let (records, next) = self.run(|shard| shard.scroll(request))?;
            points.extend(records.iter().filter_map(|record| match record.id {
                PointId::Uuid(id) => Some(id),
                PointId::NumId(_) => None,
            }));
            offset = next;
            if offset.is_none() {
                return Ok(points);
            }
        }
    }

    /// The `limit` points with the highest cosine to `vector`, exactly, of all or of those in `among`; points of equal
    /// score in no particular order.
    pub fn nearest(
        &self,
        vector: &[f32],
        limit: usize,
        among: Option<&HashSet<Uuid>>,
    ) -> Result<Vec<(Uuid, f32)>, IndexError> {
        if vector.len() != self.dimension {
            let reason = format!("the query has {} dimensions, the index {}", vector.len(), self.dimension);
            return Err(IndexError::Vectors { path: self.path.clone(), reason });
        }
        let request = SearchRequest {
            query: QueryEnum::Nearest(NamedQuery::default_dense(vector.to_vec())),
            filter: among.map(|ids| Filter::new().with_point_ids(ids.iter().map(|&id| PointId::Uuid(id)))),
            params: Some(SearchParams { exact: true, ..SearchParams::default() }),
            limit,
            offset: 0,
            with_payload: None,
            with_vector: None,
            score_threshold: None,
        };
        let points = self.run(|shard| shard.search(request))?;
        let found = points.into_iter().filter_map(|point| match point.id {
            PointId::Uuid(id) => Some((id, point.score)),
            PointId::NumId(_) => None,
        });
        Ok(found.collect())
    }
}

impl Drop for VectorStore {
    fn drop(&mut self) {
        // The engine flushes when it is dropped, and panics where the disk is full: there is nobody left to tell, and
        // what was committed has been flushed before.
        if let Some(shard) = self.shard.take() {
            drop(catch_unwind(AssertUnwindSafe(|| drop(shard))));
        }
    }
}

/// Deletes the closed files of the shard's log but the newest.
///
/// The engine writes every operation into a log, which it never reads again and never shortens; left alone it outgrows
/// the vectors. Operations are numbered by their place in the log, so its last closed file stays to carry the count.
/// Called while the shard is open, hence locked.
fn trim_log(path: &Path) {
    let Ok(files) = fs::read_dir(path.join("wal")) else { return };
    let mut closed: Vec<(u64, PathBuf)> = files
        .flatten()
        .filter_map(|file| {
            let number = file.file_name().to_str()?.strip_prefix("closed-")?.parse().ok()?;
            Some((number, file.path()))
        })
        .collect();
    closed.sort_unstable();
    closed.pop();
    for (_, file) in closed {
        // A file that cannot be deleted costs space and nothing else.
        drop(fs::remove_file(file));
    }
}

fn config(dimension: usize) -> EdgeConfig {
    EdgeConfig::builder()
        .vector("", EdgeVectorParams::builder(dimension, Distance::Cosine).build())
        .on_disk_payload(true)
        // 0 switches the graph index off.
        .optimizers(EdgeOptimizersConfig { indexing_threshold: Some(0), ..EdgeOptimizersConfig::default() })
        .wal_options(WalOptions { segment_capacity: LOG_FILE_BYTES, ..WalOptions::default() })
        .build()
}

fn flatten<T>(outcome: std::thread::Result<OperationResult<T>>) -> Result<T, String> {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(one_line(&error.to_string())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("the engine panicked");
            Err(one_line(text))
        }
    }
}

#[cfg(test)]
#[path = "vector_store_tests.rs"]
mod tests;
