//! An index that is built beside the old one, and takes its place.

use std::collections::HashSet;
use std::path::Path;

use pericope_store::{IndexSpec, Publication, RunSummary};

use super::IndexWriter;
use crate::build::{home, later_builds, serving};
use crate::directory::{lock, manifest_path};
use crate::manifest::Manifest;
use crate::meta::{FORMAT, META_FILE};
use crate::own::{refuse_foreign, remove_build};
use crate::{IndexError, IndexMeta};

impl IndexWriter {
    /// Builds the index in `dir` anew, whatever it was built with. Until the new one is whole, searches find the old one; it
    /// takes its place by [`finish`](Self::finish), and the old one's files are deleted then. Files that no version of this
    /// program writes stay: see [`foreign_files`](crate::foreign_files). A rebuild that was broken off is taken up again
    /// where it was begun with the same `spec`. A directory without an index is treated as by
    /// [`create_or_open`](Self::create_or_open).
    ///
    /// # Errors
    /// As [`create_or_open`](Self::create_or_open).
    pub fn rebuild(dir: &Path, spec: &IndexSpec) -> Result<Self, IndexError> {
        refuse_foreign(dir)?;
        if !dir.join(META_FILE).exists() {
            return Self::create_or_open(dir, spec);
        }
        let lock = lock(dir)?;
        let old = serving(dir)?;
        let begun: Vec<u64> = later_builds(dir)?.into_iter().filter(|&build| build > old).collect();
        if let &[number] = begun.as_slice() {
            let meta = IndexMeta::read(&home(dir, number));
            if let Ok(meta) = meta
                && meta.format == FORMAT
                && meta.expect(dir, spec).is_ok()
            {
                let lock = lock.try_clone().map_err(IndexError::io(dir))?;
                match Self::over(dir, meta, spec, lock) {
                    Err(error) if error.damaged_file().is_some() => {}
                    opened => {
                        let fresh = Some(HashSet::new());
                        return opened.map(|writer| Self { replaces: Some(old), fresh, ..writer });
                    }
                }
            }
        }
        for &build in &begun {
            remove_build(dir, build)?;
        }
        let mut meta = IndexMeta::new(spec);
        meta.build = begun.last().copied().unwrap_or(old) + 1;
        let home = home(dir, meta.build);
        std::fs::create_dir_all(&home).map_err(IndexError::io(&home))?;
        meta.write(&home)?;
        Ok(Self { replaces: Some(old), ..Self::over(dir, meta, spec, lock)? })
    }

    /// Removes what a rebuild that was broken off had, and this run neither put again nor met the source of.
    pub(super) fn remove_leftovers(&mut self, run: &RunSummary<'_>) -> Result<(), IndexError> {
        let Some(fresh) = self.fresh.take().filter(|_| !run.interrupted) else { return Ok(()) };
        let known = self.manifest.known()?;
        let alone = self.manifest.documents_of_no_source()?;
        let mut gone: Vec<String> = alone.into_iter().filter(|document| !run.may_hold(document)).collect();
        for (name, source) in known.sources.into_iter().filter(|(name, _)| !run.may_hold(name)) {
            gone.extend(source.documents.into_iter().map(|(document, _)| document));
            self.changes.sources.entry(name).or_insert(None);
        }
        for document in gone.iter().filter(|document| !fresh.contains(*document)) {
            self.remove(document)?;
        }
        Ok(())
    }

    /// Whether a rebuild may take the place of the old index: not where the run was interrupted, nor where the old one holds
    /// documents whose sources could not be read or looked for.
    pub(super) fn publication(&self, run: &RunSummary<'_>) -> Result<Publication, IndexError> {
        let Some(old) = self.replaces else { return Ok(Publication::InPlace) };
        if run.interrupted {
            return Ok(Publication::Unfinished);
        }
        Ok(match self.lost(old, run)? {
            lost if lost.is_empty() => Publication::Published,
            lost => Publication::KeptOld { lost },
        })
    }

    fn lost(&self, old: u64, run: &RunSummary<'_>) -> Result<Vec<String>, IndexError> {
        if run.is_complete() {
            return Ok(Vec::new());
        }
        let path = manifest_path(&home(&self.dir, old));
        // An old index whose list is damaged or of an earlier version loses nothing. Of one that cannot be read now nobody
        // knows.
        let is_there = path.try_exists().map_err(IndexError::io(&path))?;
        if !is_there || Manifest::verify(&path)?.is_some() {
            return Ok(Vec::new());
        }
        let held = Manifest::look(&path).and_then(|held| Ok((held.known()?, held.documents_of_no_source()?)));
        let (known, alone) = match held {
            Err(IndexError::Database { .. }) => return Ok(Vec::new()),
            held => held?,
        };
        let mut lost: Vec<String> = alone.into_iter().filter(|document| run.missed(document)).collect();
        let missed = known.sources.into_iter().filter(|(name, _)| run.missed(name));
        lost.extend(missed.flat_map(|(_, source)| source.documents.into_iter().map(|(document, _)| document)));
        let built: HashSet<String> = self.document_ids().unwrap_or_default().into_iter().collect();
        lost.retain(|document| !built.contains(document));
        lost.sort_unstable();
        Ok(lost)
    }
}

/// The new index takes the place of the old one, whose files go.
pub(super) fn publish(dir: &Path, meta: &mut IndexMeta, old: u64) -> Result<(), IndexError> {
    meta.write(dir)?;
    // What cannot be deleted now, since somebody has it open, goes when the index is written the next time.
    remove_build(dir, old).ok();
    std::fs::remove_file(home(dir, meta.build).join(META_FILE)).ok();
    Ok(())
}
