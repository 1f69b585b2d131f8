//! Stores, compared with a plain vector of bytes, and checked for harm to files.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sledlab_core::error::ErrorOrigin;
use sledlab_emulation::DataStore;
use sledlab_emulation::transport::nbd::Errno;

const BYTES: u64 = 1 << 20;

/// A path in an empty directory of this test's own.
fn fresh_path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a directory");
    folder.join("disk.img")
}

fn assert_refused<T: std::fmt::Debug>(outcome: sledlab_core::Result<T>, text: &str) {
    let error = outcome.expect_err(text);
    assert!(error.message().contains(text), "{error}");
    assert_eq!(error.origin(), ErrorOrigin::User);
    assert!(error.remedy().is_some(), "{error}");
}

fn content(store: &DataStore) -> Vec<u8> {
    let mut bytes = vec![0; store.bytes() as usize];
    store.read_at(0, &mut bytes).expect("data");
    bytes
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    Punch(u64, u64),
    Zero(u64, u64),
    Read(u64, usize),
    Extents(u64, u64, usize),
}

/// Offset and length of a range: mostly unaligned, sometimes complete pages.
fn range() -> impl Strategy<Value = (u64, u64)> {
    let unaligned = (0..BYTES, 0..BYTES / 4);
    let aligned = (0..BYTES / 4096, 0_u64..40).prop_map(|(first, count)| (first * 4096, count * 4096));
    prop_oneof![unaligned, aligned].prop_map(|(offset, length)| (offset, length.min(BYTES - offset)))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (range(), 1_u8..).prop_map(|((offset, count), byte)| Step::Write(offset, vec![byte; count as usize])),
        range().prop_map(|(offset, count)| Step::Punch(offset, count)),
        range().prop_map(|(offset, count)| Step::Zero(offset, count)),
        range().prop_map(|(offset, count)| Step::Read(offset, count as usize)),
        (range(), 1_usize..20).prop_map(|((offset, count), max_extents)| Step::Extents(
            offset,
            count,
            max_extents
        )),
    ]
}

fn check_against_vector(store: &DataStore, steps: &[Step]) {
    let mut model = vec![0; BYTES as usize];
    for step in steps {
        match *step {
            Step::Write(offset, ref bytes) => {
                store.write_at(offset, bytes).expect("room");
                model[offset as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            Step::Punch(offset, count) => {
                store.punch(offset, count).expect("a hole");
                model[offset as usize..][..count as usize].fill(0);
            }
            Step::Zero(offset, count) => {
                store.zero(offset, count).expect("zeroes");
                model[offset as usize..][..count as usize].fill(0);
            }
            Step::Read(offset, count) => {
                let mut bytes = vec![1; count];
                store.read_at(offset, &mut bytes).expect("data");
                assert_eq!(bytes, model[offset as usize..][..count]);
            }
            Step::Extents(offset, count, max_extents) => {
                let extents = store.extents(offset, count, max_extents).expect("extents");
                assert!(extents.len() <= max_extents);
                assert!(extents.windows(2).all(|pair| pair[0].allocated != pair[1].allocated));
                let mut end = offset;
                for extent in &extents {
                    assert!(extent.length > 0);
                    let bytes = &model[end as usize..][..extent.length as usize];
                    assert!(extent.allocated || bytes.iter().all(|byte| *byte == 0), "data in a hole");
                    end += extent.length;
                }
                assert!(end == offset + count || (extents.len() == max_extents && end < offset + count));
            }
        }
    }
    assert!(content(store) == model);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn memory_store_matches_vector(steps in prop::collection::vec(step(), 0..30)) {
        check_against_vector(&DataStore::in_memory(BYTES).expect("memory"), &steps);
    }

    #[test]
    fn file_store_matches_vector(steps in prop::collection::vec(step(), 0..30)) {
        let path = fresh_path("vector");
        let store = DataStore::open(&path, BYTES).expect("a file");
        check_against_vector(&store, &steps);
        store.sync().expect("durable");
        let contents_before = content(&store);
        drop(store);
        assert!(content(&DataStore::scratch(&path, BYTES).expect("a copy")) == contents_before);
        assert!(content(&DataStore::open(&path, BYTES).expect("the same file")) == contents_before);
    }
}

#[test]
fn large_store_is_sparse() {
    let path = fresh_path("large");
    let bytes = 1 << 40;
    let store = DataStore::open(&path, bytes).expect("a sparse file");
    store.write_at(bytes - (1 << 16), &vec![8; 1 << 16]).expect("room");
    store.write_at(1 << 39, &vec![7; 1 << 16]).expect("room");
    assert!(fs::metadata(&path).expect("the file").blocks() * 512 < 1 << 20);
    drop(store);
    let copy = DataStore::scratch(&path, bytes).expect("a copy of what there is");
    let extents = copy.extents(0, bytes, 100).expect("extents");
    let lengths: Vec<(bool, u64)> = extents.iter().map(|extent| (extent.allocated, extent.length)).collect();
    let remaining_bytes = (1 << 39) - (2 << 16);
    assert_eq!(lengths, [(false, 1 << 39), (true, 1 << 16), (false, remaining_bytes), (true, 1 << 16)]);
    copy.punch(1 << 39, 1 << 16).expect("a hole");
    assert_eq!(copy.extents(0, bytes - (1 << 16), 100).expect("extents").len(), 1);
}

#[test]
fn scratch_copy_writes_are_discarded() {
    let path = fresh_path("scratch");
    DataStore::open(&path, BYTES).expect("a file").write_at(5, b"kept").expect("room");
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o400)).expect("a mode");
    let copy = DataStore::scratch(&path, BYTES).expect("reading is enough");
    copy.write_at(5, b"gone").expect("memory");
    let mut read = [0; 4];
    copy.read_at(5, &mut read).expect("data");
    assert_eq!(&read, b"gone");
    assert_eq!(&fs::read(&path).expect("the file")[5..9], b"kept");

    let larger = DataStore::scratch(&path, 3 * BYTES).expect("a larger device begins with it too");
    larger.read_at(5, &mut read).expect("data");
    assert_eq!(&read, b"kept");
    larger.read_at(3 * BYTES - 4, &mut read).expect("zeros");
    assert_eq!(read, [0; 4]);
}

#[test]
fn access_past_end_is_an_error() {
    let store = DataStore::in_memory(BYTES).expect("memory");
    let errors = [
        store.write_at(BYTES, &[1]),
        store.write_at(BYTES - 1, &[1, 2]),
        store.read_at(u64::MAX, &mut [0, 0]),
        store.punch(1, BYTES),
        store.zero(u64::MAX, 1),
        store.extents(0, BYTES + 1, 1).map(drop),
    ];
    for error in errors {
        let error = error.expect_err("past the end");
        assert_eq!((error.kind(), Errno::from(&error)), (ErrorKind::InvalidInput, Errno::Inval));
    }
    store.write_at(BYTES, &[]).expect("nothing is always within");
    store.punch(BYTES, 0).expect("nothing is always within");
}

#[test]
fn shrinking_file_is_an_error() {
    let path = fresh_path("shrinks");
    let store = DataStore::open(&path, BYTES).expect("a file");
    File::options().write(true).open(&path).and_then(|file| file.set_len(512)).expect("shorter");
    let error = store.read_at(0, &mut [0; 4096]).expect_err("too short");
    assert_eq!(Errno::from(&error), Errno::Io);
}

#[test]
fn system_errors_map_to_protocol_errors() {
    let expected = [
        (28, Errno::NoSpc),  // ENOSPC
        (122, Errno::NoSpc), // EDQUOT
        (27, Errno::NoSpc),  // EFBIG
        (12, Errno::NoMem),  // ENOMEM
        (30, Errno::Perm),   // EROFS
        (1, Errno::Perm),    // EPERM
        (22, Errno::Inval),  // EINVAL
        (5, Errno::Io),      // EIO
        (9, Errno::Io),      // EBADF
    ];
    for (number, errno) in expected {
        assert_eq!(Errno::from(&std::io::Error::from_raw_os_error(number)), errno);
    }
}

#[test]
fn foreign_files_are_refused_unchanged() {
    let path = fresh_path("refused");
    fs::write(&path, b"a letter").expect("a file");
    assert_refused(DataStore::open(&path, BYTES), "has 8 bytes, but the device has 1048576");
    assert_refused(DataStore::scratch(&path, 7), "has 8 bytes, but the device has 7");
    assert_eq!(fs::read(&path).expect("the file"), b"a letter");

    let folder = path.parent().expect("a directory");
    assert_refused(DataStore::open(folder, BYTES), "not a regular file");
    assert_refused(DataStore::open(Path::new("/dev/null"), BYTES), "not a regular file");
    assert_refused(DataStore::open(Path::new("/dev/pts/no-such-device"), BYTES), "not a regular file");
    assert_refused(DataStore::scratch(Path::new("/dev/zero"), BYTES), "not a regular file");
    let link = folder.join("link");
    symlink("/dev/null", &link).expect("a link");
    assert_refused(DataStore::open(&link, BYTES), "not a regular file");
    assert_refused(DataStore::open(&folder.join("none/disk.img"), BYTES), "cannot open");
    assert_refused(DataStore::scratch(&folder.join("none.img"), BYTES), "does not exist");

    let huge = folder.join("huge.img");
    assert_refused(DataStore::open(&huge, 1 << 62), "cannot extend");
    assert!(!huge.exists(), "no file is left behind");
}

#[test]
fn empty_file_gets_device_size() {
    let path = fresh_path("empty");
    File::create(&path).expect("a file");
    assert_eq!(DataStore::open(&path, BYTES).expect("nothing was in it").bytes(), BYTES);
    assert_eq!(fs::metadata(&path).expect("the file").len(), BYTES);
}

#[test]
fn open_file_is_locked() {
    let path = fresh_path("one");
    let store = DataStore::open(&path, BYTES).expect("a file");
    assert_refused(DataStore::open(&path, BYTES), "is in use");
    assert_refused(DataStore::scratch(&path, BYTES), "is in use");
    drop(store);
    let copies = [DataStore::scratch(&path, BYTES), DataStore::scratch(&path, BYTES)];
    assert!(copies.iter().all(Result::is_ok));
    DataStore::open(&path, BYTES).expect("copies do not hold the file");
}
