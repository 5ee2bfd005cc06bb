//! The product's own files: written once, searched exactly.

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use pericope_api::Embeddings;
use pericope_store::{ChunkEntry, ChunkRecord};
use twox_hash::XxHash3_64;
use uuid::Uuid;

use super::{Open, Way};
use crate::data::{DIMENSION, Data, NEAREST};
use crate::vectors::{GenerationId, VectorSet, VectorWriter};

/// Names the last commit, as the full-text index does in the product.
const COMMIT: &str = "commit";

pub struct Ours;

/// The id of a row: in no order, as ids of chunks are, with the row in it.
fn id(row: usize) -> Uuid {
    let hash = XxHash3_64::oneshot(&(row as u64).to_le_bytes());
    Uuid::from_u128(u128::from(hash) << 64 | row as u128)
}

fn committed(dir: &Path) -> Result<Option<GenerationId>> {
    match std::fs::read_to_string(dir.join(COMMIT)) {
        Ok(text) => Ok(Some(text.parse()?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn open(dir: &Path, before: Option<&VectorSet>) -> Result<Option<(GenerationId, VectorSet)>> {
    let Some(id) = committed(dir)? else { return Ok(None) };
    let set = VectorSet::open(&dir.join("vectors"), id, DIMENSION, before)?;
    Ok(set.map(|set| (id, set)))
}

impl Way for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn write(&self, dir: &Path, data: &Data, rows: Range<usize>, ready: &mut dyn FnMut()) -> Result<()> {
        let folder = dir.join("vectors");
        std::fs::create_dir_all(&folder)?;
        let before = open(dir, None)?.map_or_else(|| VectorSet::empty(&folder, DIMENSION), |(_, set)| set);
        let mut writer = VectorWriter::new(&folder, &before, rows.start as u64 + 1)?;
        ready();
        data.batches(rows, |first, numbers| {
            let vectors = Embeddings::new(DIMENSION, numbers.to_vec());
            let chunk = ChunkRecord::default;
            let entry = |row| ChunkEntry { id: id(first + row), chunk: chunk(), searched: Vec::new(), encoded: None };
            let entries: Vec<ChunkEntry> = (0..vectors.len()).map(entry).collect();
            Ok(writer.upsert(&entries, &vectors)?)
        })?;
        let id = writer.write_generation()?;
        pericope_util::replace_file(&dir.join(COMMIT), id.to_string())?;
        Ok(writer.tidy(Some(id))?)
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Open>> {
        let (id, set) = open(dir, None)?.context("nothing was committed")?;
        Ok(Box::new(Opened { dir: dir.to_owned(), id, set }))
    }

    fn depths(&self) -> &'static [usize] {
        &[0]
    }
}

struct Opened {
    dir: std::path::PathBuf,
    id: GenerationId,
    set: VectorSet,
}

impl Open for Opened {
    fn search(&mut self, query: &[f32], _: usize) -> Result<Vec<u32>> {
        let mut found = self.set.nearest(query, NEAREST, None)?;
        found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        Ok(found.into_iter().map(|(id, _)| id.as_u128() as u32).collect())
    }

    fn refresh(&mut self) -> Result<()> {
        if committed(&self.dir)? != Some(self.id)
            && let Some((id, set)) = open(&self.dir, Some(&self.set))?
        {
            (self.id, self.set) = (id, set);
        }
        Ok(())
    }
}
