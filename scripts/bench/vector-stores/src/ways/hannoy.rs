//! HNSW on LMDB (hannoy).

use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use hannoy::distances::Cosine;
use hannoy::{Database, Reader, Writer};
use heed::{Env, WithoutTls};
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::lmdb::{self, SEED};
use super::{Open, Way};
use crate::data::{DIMENSION, Data, NEAREST};

pub struct Hannoy;

impl Way for Hannoy {
    fn name(&self) -> &'static str {
        "hannoy"
    }

    fn write(&self, dir: &Path, data: &Data, rows: Range<usize>, ready: &mut dyn FnMut()) -> Result<()> {
        let env = lmdb::open(dir)?;
        let database: Database<'static, Cosine> = lmdb::create(&env)?;
        let mut transaction = env.write_txn()?;
        let writer = Writer::<Cosine>::new(database, 0, DIMENSION);
        ready();
        data.batches(rows, |first, numbers| {
            let rows = numbers.chunks_exact(DIMENSION).zip(first as u32..);
            for (vector, row) in rows {
                writer.add_item(&mut transaction, row, vector)?;
            }
            Ok(())
        })?;
        let mut random = StdRng::seed_from_u64(SEED);
        writer.builder(&mut random).ef_construction(128).build::<16, 32>(&mut transaction)?;
        Ok(transaction.commit()?)
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Open>> {
        let env = lmdb::open(dir)?;
        let database = lmdb::find(&env)?;
        Ok(Box::new(Opened { env, database }))
    }

    fn depths(&self) -> &'static [usize] {
        // `ef` of the search.
        &[20, 40, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1200, 2000, 4000]
    }
}

struct Opened {
    env: Env<WithoutTls>,
    database: Database<'static, Cosine>,
}

impl Open for Opened {
    fn search(&mut self, query: &[f32], depth: usize) -> Result<Vec<u32>> {
        let transaction = self.env.read_txn()?;
        let reader = Reader::open(&transaction, 0, self.database)?;
        let found = reader.nns(NEAREST).ef_search(depth).by_vector(&transaction, query)?.into_nns();
        Ok(found.into_iter().map(|(row, _)| row).collect())
    }

    fn refresh(&mut self) -> Result<()> {
        // Every search is a transaction of its own.
        Ok(())
    }
}
