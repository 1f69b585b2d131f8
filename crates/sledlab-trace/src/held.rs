//! Files held in memory, by name: what traces are read from where there is no file system. They come before others of
//! their name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Files = BTreeMap<String, Arc<[u8]>>;

static FILES: Mutex<Files> = Mutex::new(BTreeMap::new());

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on the file of this name is there, in the place of another of that name.
pub fn put(name: &str, bytes: Vec<u8>) {
    files().insert(name.to_owned(), bytes.into());
}

/// Forgets the file; whoever reads it reads on.
pub fn drop(name: &str) {
    files().remove(name);
}

/// The bytes of a file.
pub(crate) fn find(name: &str) -> Option<Arc<[u8]>> {
    files().get(name).cloned()
}
