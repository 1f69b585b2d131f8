//! Sessions of clients.

use crate::client::Client;

/// Messages of real clients to a device of 64 KiB called `disk` (fio 3.33, libnbd 1.14, QEMU 7.2): verified random
/// reads and writes, a copy of a sparse file, queries of the export and of its extents, and writes of all kinds.
pub const RECORDED_SESSIONS: [&[u8]; 7] = [
    include_bytes!("recorded/fio.bin"),
    include_bytes!("recorded/nbdcopy.bin"),
    include_bytes!("recorded/nbdinfo.bin"),
    include_bytes!("recorded/nbdinfo-list.bin"),
    include_bytes!("recorded/nbdinfo-map.bin"),
    include_bytes!("recorded/qemu-img.bin"),
    include_bytes!("recorded/qemu-io.bin"),
];

/// Recorded sessions, and composed ones that use every command and option.
pub fn sessions() -> Vec<Vec<u8>> {
    let composed_sessions = [
        simple_session(),
        export_name_session(),
        structured_session(),
        refused_options_session(),
        refused_requests_session(),
    ]
    .map(|client| client.0);
    RECORDED_SESSIONS.into_iter().map(<[u8]>::to_vec).chain(composed_sessions).collect()
}

/// A session with every command and simple replies.
pub fn simple_session() -> Client {
    Client::new(3)
        .option(3, &[])
        .info(6, "", &[])
        .info(7, "disk", &[1, 2, 3, 77])
        .write(0, 1, 512, &[7; 1024])
        .request(0, 0, 2, 500, 30)
        .write(1, 3, 65_535, &[8])
        .request(0, 3, 4, 0, 0)
        .request(1, 4, 5, 1024, 512)
        .request(2, 6, 6, 0, 600)
        .request(0, 5, 7, 0, 65_536)
        .request(0, 0, 8, 0, 2048)
        .request(0, 2, 0, 0, 0)
}

/// A session without options, as clients from before 2017 begin one.
pub fn export_name_session() -> Client {
    Client::new(0)
        .option(1, b"disk")
        .write(0, u64::MAX, 0, b"data")
        .request(0, 0, 9, 0, 8)
        .request(0, 2, 0, 0, 0)
}

/// A session with structured replies and extents.
pub fn structured_session() -> Client {
    Client::with_structured_replies()
        .write(0, 1, 100, &[7; 100])
        .request(4, 0, 2, 90, 20)
        .request(0, 7, 3, 0, 65_536)
        .request(8, 7, 4, 150, 1000)
        .request(0, 0, 5, 65_536, 1)
        .request(0, 2, 0, 0, 0)
}

/// A session whose options are refused, or are unusual.
pub fn refused_options_session() -> Client {
    Client::new(1)
        .option(5, &[])
        .option(4, b"peek")
        .contexts(10, "disk", &["base:allocation"])
        .option(8, b"data")
        .option(8, &[])
        .contexts(9, "", &[])
        .contexts(9, "disk", &["base:", "x-mine:all"])
        .contexts(10, "other", &["base:allocation"])
        .contexts(10, "", &["base:allocation", "base:allocation", "nothing"])
        .info(7, "other", &[])
        .option(7, &[0, 0, 0, 9, b'd'])
        .option(3, b"data")
        .option(9, &vec![0; 20_000])
        .option(2, b"bye")
}

/// A session whose requests are refused, a write with its data among them.
pub fn refused_requests_session() -> Client {
    Client::new(3)
        .option(1, b"")
        .write(0, 1, 65_535, b"past")
        .write(4, 2, 0, b"flag")
        .request(0, 1, 3, 0, 0)
        .request(0, 0, 4, u64::MAX, 2)
        .request(0, 0, 5, 0, 40 << 20)
        .request(0, 77, 6, 0, 1)
        .request(0, 7, 7, 0, 1)
        .request(0, 3, 8, 1, 0)
        .request(0, 6, 9, 65_530, 10)
        .request(0, 4, 10, 65_530, 10)
        .request(0, 0, 11, 0, 4)
}
