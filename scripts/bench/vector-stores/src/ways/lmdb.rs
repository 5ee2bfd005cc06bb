//! What the ways on LMDB share.

use std::path::Path;

use anyhow::{Context, Result};
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions, WithoutTls};

/// The most that a folder may hold, in bytes: address space, not disk.
const MAP_BYTES: usize = 32 << 30;
/// Seed of what is random in a build.
pub const SEED: u64 = 42;

/// Opens the database in a folder.
#[allow(unsafe_code)]
pub fn open(dir: &Path) -> Result<Env<WithoutTls>> {
    std::fs::create_dir_all(dir)?;
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(MAP_BYTES);
    // SAFETY: nobody but this program, through LMDB, writes the files of the folder, and a process opens it once.
    Ok(unsafe { options.open(dir)? })
}

/// The one database of a folder, made where there is none.
pub fn create<K: 'static, D: 'static>(env: &Env<WithoutTls>) -> Result<Database<'static, K, D>> {
    let made = env.create_databases_and_commit(env.write_txn()?, |opener, transaction| {
        opener.create_database(transaction, None).map(CommitOrAbort::<_, ()>::Commit)
    });
    Ok(made?.unwrap_commit())
}

/// The one database of a folder.
pub fn find<K: 'static, D: 'static>(env: &Env<WithoutTls>) -> Result<Database<'static, K, D>> {
    let found = env.open_databases_and_commit(env.read_txn()?, |opener, transaction| {
        opener.open_database(transaction, None).map(CommitOrAbort::<_, ()>::Commit)
    });
    found?.unwrap_commit().context("nothing was committed")
}
