//! In-memory files by name, for platforms without a file system. They take precedence over files on disk with the same
//! name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Files = BTreeMap<String, Arc<[u8]>>;

static FILES: Mutex<Files> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Holds the file `name` from now on, in place of any held file of that name.
pub fn put(name: &str, bytes: Vec<u8>) {
    files().insert(name.to_owned(), bytes.into());
}

/// Drops the held file `name`; readers that have it open read on.
pub fn drop(name: &str) {
    files().remove(name);
}

/// The bytes of the held file `name`.
pub(crate) fn find(name: &str) -> Option<Arc<[u8]>> {
    files().get(name).cloned()
}
