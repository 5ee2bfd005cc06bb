//! Folders that targets write their files into, one a thread.

use std::cell::RefCell;
use std::path::Path;

use tempfile::TempDir;

thread_local! {
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// Calls `work` with this thread's folder, which is made the first time. What lies in it stays until the thread ends.
pub(super) fn with<T>(work: impl FnOnce(&Path) -> T) -> T {
    let folder = FOLDER.with_borrow_mut(|slot| {
        let folder = slot.take().unwrap_or_else(|| tempfile::tempdir().expect("a temporary folder"));
        let path = folder.path().to_owned();
        *slot = Some(folder);
        path
    });
    work(&folder)
}

/// The same with a folder below it that is empty.
pub(super) fn with_empty<T>(work: impl FnOnce(&Path) -> T) -> T {
    with(|folder| {
        let folder = folder.join("empty");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("it is ours");
        }
        std::fs::create_dir_all(&folder).expect("it is ours");
        work(&folder)
    })
}
