//! The embedded Qdrant engine, as earlier versions of Pericope used it (exact), and with its graph.

use std::ops::Range;
use std::path::Path;

use anyhow::{Result, anyhow};
use qdrant_edge::{
    Distance, EdgeConfig, EdgeOptimizersConfig, EdgeShard, EdgeVectorParams, NamedQuery, PointId,
    PointInsertOperations, PointOperations, PointStruct, QueryEnum, SearchParams, SearchRequest, UpdateOperation,
    WalOptions,
};

use super::{Open, Way};
use crate::data::{DIMENSION, Data, NEAREST};

/// Points in one operation.
const POINTS: usize = 256;
/// Size of a file of the log.
const LOG_FILE_BYTES: usize = 8 << 20;

pub struct Qdrant {
    pub graph: bool,
}

impl Qdrant {
    fn config(&self) -> EdgeConfig {
        let optimizers = EdgeOptimizersConfig {
            // In KB; 0 switches the graph off.
            indexing_threshold: Some(if self.graph { 1000 } else { 0 }),
            default_segment_number: self.graph.then_some(1),
            max_segment_size: self.graph.then_some(64 << 20),
            ..EdgeOptimizersConfig::default()
        };
        EdgeConfig::builder()
            .vector("", EdgeVectorParams::builder(DIMENSION, Distance::Cosine).build())
            .on_disk_payload(true)
            .optimizers(optimizers)
            .wal_options(WalOptions { segment_capacity: LOG_FILE_BYTES, ..WalOptions::default() })
            .build()
    }
}

fn named(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("{}", error.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
}

impl Way for Qdrant {
    fn name(&self) -> &'static str {
        if self.graph { "qdrant-hnsw" } else { "qdrant" }
    }

    fn write(&self, dir: &Path, data: &Data, rows: Range<usize>, ready: &mut dyn FnMut()) -> Result<()> {
        let shard = if dir.join("edge_config.json").exists() {
            EdgeShard::load(dir, None).map_err(named)?
        } else {
            std::fs::create_dir_all(dir)?;
            EdgeShard::new(dir, self.config()).map_err(named)?
        };
        ready();
        data.batches(rows, |first, numbers| {
            for (batch, first) in numbers.chunks(POINTS * DIMENSION).zip((first..).step_by(POINTS)) {
                let points = batch.chunks_exact(DIMENSION).zip(first as u64..).map(|(vector, row)| {
                    PointStruct::new(PointId::NumId(row), vector.to_vec(), serde_json::json!({})).into()
                });
                let points = PointInsertOperations::PointsList(points.collect());
                let operation = UpdateOperation::PointOperation(PointOperations::UpsertPoints(points));
                shard.update(operation).map_err(named)?;
            }
            Ok(())
        })?;
        shard.optimize().map_err(named)?;
        shard.flush();
        Ok(())
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Open>> {
        let shard = EdgeShard::load(dir, None).map_err(named)?;
        Ok(Box::new(Opened { shard, exact: !self.graph }))
    }

    fn depths(&self) -> &'static [usize] {
        if self.graph { &[20, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1200, 2000, 4000] } else { &[0] }
    }
}

struct Opened {
    shard: EdgeShard,
    exact: bool,
}

impl Open for Opened {
    fn search(&mut self, query: &[f32], depth: usize) -> Result<Vec<u32>> {
        let request = SearchRequest {
            query: QueryEnum::Nearest(NamedQuery::default_dense(query.to_vec())),
            filter: None,
            params: Some(SearchParams {
                exact: self.exact,
                hnsw_ef: (!self.exact).then_some(depth),
                ..SearchParams::default()
            }),
            limit: NEAREST,
            offset: 0,
            with_payload: None,
            with_vector: None,
            score_threshold: None,
        };
        let found = self.shard.search(request).map_err(named)?;
        Ok(found
            .into_iter()
            .filter_map(|point| match point.id {
                PointId::NumId(row) => Some(row as u32),
                PointId::Uuid(_) => None,
            })
            .collect())
    }

    fn refresh(&mut self) -> Result<()> {
        // A process that has the folder open is the only one that can write.
        Ok(())
    }
}
