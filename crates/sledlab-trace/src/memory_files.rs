//! In-memory files by name, for platforms without a file system. They take precedence over files on disk with the same
//! name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Files = BTreeMap<String, Arc<[u8]>>;

static FILES: Mutex<Files> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the file `name`, replacing a stored file of that name.
pub fn store(name: &str, bytes: Vec<u8>) {
    files().insert(name.to_owned(), bytes.into());
}

/// Deletes the stored file `name`; open readers continue to read its bytes.
pub fn remove(name: &str) {
    files().remove(name);
}

/// Returns the bytes of the stored file `name`.
pub(crate) fn find(name: &str) -> Option<Arc<[u8]>> {
    files().get(name).cloned()
}
