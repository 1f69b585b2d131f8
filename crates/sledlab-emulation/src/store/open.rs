//! Creates a store: in memory, in a file, or in a copy of a file.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, MemfdFlags, flock, memfd_create};
use rustix::io::Errno;
use sledlab_core::{Error, Result};

use super::{DataStore, PIECE_BYTES};

impl DataStore {
    /// Returns an empty store in memory, which uses as much memory as is written.
    pub fn in_memory(bytes: u64) -> Result<DataStore> {
        let file = memfd_create("sledlab", MemfdFlags::CLOEXEC).map(File::from).map_err(io::Error::from);
        let file = file.and_then(|file| file.set_len(bytes).map(|()| file)).map_err(|error| {
            Error::user(format!("cannot allocate {bytes} bytes of memory for the data: {error}"))
                .with_remedy("store the data in a file, or serve a smaller device")
        })?;
        Ok(DataStore { file, bytes })
    }

    /// A store in a file of exactly so many bytes, which no other store uses at the same time. A file that does not
    /// exist, or is empty, becomes a sparse one of that size.
    ///
    /// # Errors
    /// A path that is not a regular file; a file of another size; a file that another process uses; a file that cannot
    /// be opened, read and written.
    pub fn open(path: &Path, bytes: u64) -> Result<DataStore> {
        let has_existed = is_regular(path)?;
        if !has_existed {
            refuse_devices(path)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(!has_existed);
        let file = options.open(path).map_err(|error| open_error(path, &error))?;
        lock(path, &file, FlockOperation::NonBlockingLockExclusive)?;
        if file_size(path, &file)? == 0 {
            file.set_len(bytes).map_err(|error| {
                if !has_existed {
                    // The file was created here and holds nothing; an empty file must not be left behind.
                    let _ = fs::remove_file(path);
                }
                Error::user(format!("cannot extend {} to {bytes} bytes: {error}", path.display()))
                    .with_remedy("store the data on a file system that allows files of that size")
            })?;
        }
        check_size(path, &file, bytes)?;
        Ok(DataStore { file, bytes })
    }

    /// A copy in memory of a file of so many bytes or fewer: written data is lost in the end, and the file is not
    /// changed. Holes are not copied; behind the end of the file the store is zero, so that a larger device can begin
    /// with the file too.
    ///
    /// # Errors
    /// The errors of [`DataStore::open`], but of the size only if the file is larger; also a file that does not exist.
    pub fn scratch(path: &Path, bytes: u64) -> Result<DataStore> {
        if !is_regular(path)? {
            return Err(Error::user(format!("file {} does not exist", path.display()))
                .with_remedy("create it first: serve the device with this file, but without scratch"));
        }
        let file = File::open(path).map_err(|error| open_error(path, &error))?;
        // Other processes may also copy the file, but none may write to the file meanwhile.
        lock(path, &file, FlockOperation::NonBlockingLockShared)?;
        let file_bytes = file_size(path, &file)?;
        if file_bytes > bytes {
            check_size(path, &file, bytes)?;
        }
        let copy = DataStore::in_memory(bytes)?;
        let source = DataStore { file, bytes: file_bytes };
        copy_data(&source, &copy).map_err(|error| {
            Error::user(format!("cannot copy {} to memory: {error}", path.display()))
                .with_remedy("the data must fit into memory; without scratch, the file is used in place")
        })?;
        Ok(copy)
    }
}

fn copy_data(from: &DataStore, to: &DataStore) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut at = 0;
    for extent in from.extents(0, from.bytes, usize::MAX)? {
        let end = at + extent.length;
        while extent.allocated && at < end {
            let count = PIECE_BYTES.min((end - at) as usize);
            from.file.read_exact_at(&mut piece[..count], at)?;
            to.file.write_all_at(&piece[..count], at)?;
            at += count as u64;
        }
        at = end;
    }
    Ok(())
}

/// Whether the path is a regular file; false where it does not exist, and an error where it is anything else.
fn is_regular(path: &Path) -> Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(true),
        Ok(_) => Err(irregular_file_error(path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(open_error(path, &error)),
    }
}

/// Refuses paths of devices: a typo in the name of one must not create a file in `/dev`.
fn refuse_devices(path: &Path) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| PathBuf::from(folder));
    if folder.starts_with("/dev") && !folder.starts_with("/dev/shm") {
        Err(irregular_file_error(path))
    } else {
        Ok(())
    }
}

/// The size of the file that was opened, which may differ from the file that was at the path before.
fn file_size(path: &Path, file: &File) -> Result<u64> {
    let metadata = file.metadata().map_err(|error| open_error(path, &error))?;
    if metadata.is_file() { Ok(metadata.len()) } else { Err(irregular_file_error(path)) }
}

fn check_size(path: &Path, file: &File, bytes: u64) -> Result<()> {
    match file_size(path, file)? {
        file_bytes if file_bytes == bytes => Ok(()),
        file_bytes => Err(Error::user(format!(
            "{} has {file_bytes} bytes, but the device has {bytes}",
            path.display()
        ))
        .with_remedy(
            "choose a file that was created for this device, a new file, or a device of the file's size",
        )),
    }
}

fn lock(path: &Path, file: &File, operation: FlockOperation) -> Result<()> {
    flock(file, operation).map_err(|error| match error {
        Errno::WOULDBLOCK => Error::user(format!("{} is in use", path.display())).with_remedy(
            "another process serves or copies the file: stop that process, or use separate files",
        ),
        error => Error::user(format!("cannot lock {}: {}", path.display(), io::Error::from(error)))
            .with_remedy("store the data on a file system that supports locks"),
    })
}

fn irregular_file_error(path: &Path) -> Error {
    Error::user(format!("{} is not a regular file", path.display()))
        .with_remedy("data is stored in regular files only, never on devices: choose a regular file")
}

fn open_error(path: &Path, error: &io::Error) -> Error {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "create the directory first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "the file must be readable, and writable unless a scratch copy is used"
        }
        _ => "choose a file that can be read and written",
    };
    Error::user(format!("cannot open {}: {error}", path.display())).with_remedy(remedy)
}
