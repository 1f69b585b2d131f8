//! Well-known files that are not read: their names, and the way to convert them.

use sledlab_core::Error;

use super::Head;

/// Files that begin with certain bytes: the bytes, what the file is, and the remedy.
const MAGICS: [(&[u8], &str, &str); 16] = [
    (
        b"\x07\x74\x61\x65",
        "binary blktrace of one processor",
        "`blkparse -i NAME -o trace.txt` writes the text that is read, of all processors",
    ),
    (
        b"\x65\x61\x74\x07",
        "binary blktrace of one processor",
        "`blkparse -i NAME -o trace.txt` writes the text that is read, of all processors",
    ),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"\x04\x22\x4d\x18", "compressed by lz4", "unpack it first: `lz4 -d FILE`"),
    (b"\x1f\x9d", "compressed by compress", "unpack it first: `gzip -d FILE`"),
    (b"\x5d\x00\x00", "compressed by lzma", "unpack it first: `xz -d --format=lzma FILE`"),
    (b"ORC", "an ORC file", "convert it to Parquet or CSV, for instance with pyarrow"),
    (b"Obj\x01", "an Avro file", "convert it to Parquet or CSV, for instance with DuckDB"),
    (b"ARROW1", "an Arrow (Feather) file", "convert it to Parquet, for instance with polars"),
    (b"SQLite format 3", "an SQLite database", "export the table of requests to CSV or Parquet"),
    (b"\x89HDF", "an HDF5 file", "export the requests to CSV or Parquet"),
    (b"PERFILE2", "a recording of perf", "`perf script` prints its events; record requests with blktrace"),
    (
        b"\x17\x08\x44tracing",
        "a recording of trace-cmd",
        "record requests with blktrace, or convert the events to CSV",
    ),
    (b"\xd4\xc3\xb2\xa1", "a packet capture", "this is no recording of block requests"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet", "export it to CSV"),
];

/// SCSI commands for reads and writes, as recordings of vSCSI hold them.
const SCSI_COMMANDS: [u16; 8] = [0x08, 0x0a, 0x28, 0x2a, 0x88, 0x8a, 0xa8, 0xaa];

/// Returns an error that names the kind of a file that is recognized but not read.
pub(super) fn recognize(head: &Head) -> Option<Error> {
    if let Some((_, kind, remedy)) = MAGICS.iter().find(|(magic, ..)| head.bytes().starts_with(magic)) {
        return Some(not_read_error(kind, remedy));
    }
    if is_vscsi(head.bytes()) {
        return Some(not_read_error(
            "a vSCSI recording (CloudPhysics)",
            "convert it to CSV, for instance with `tracePrint` of libCacheSim, and read that with `--columns`",
        ));
    }
    let first_line = head.lines().next()?;
    if first_line.starts_with(b"TIME(s)") && contains(first_line, b"SECTOR") {
        return Some(not_read_error(
            "output of biosnoop",
            "`--columns time=TIME(s):s,op=T,offset=SECTOR:sectors,length=BYTES,device=DISK` reads it if no name of a \
             command contains blanks",
        ));
    }
    if first_line.starts_with(b"{") && contains(head.bytes(), b"\"fio version\"") {
        return Some(not_read_error(
            "JSON output of fio, which has no requests",
            "record them with fio's option `write_iolog` or `write_lat_log` and `log_offset=1`",
        ));
    }
    None
}

fn not_read_error(kind: &str, remedy: &str) -> Error {
    Error::user(format!("the file is {kind}, which is not read")).with_remedy(remedy)
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

/// Whether bytes are records of a vSCSI recording: 32 bytes (version 1) or 40 (version 2) with a command and a version
/// that is the same in all.
fn is_vscsi(bytes: &[u8]) -> bool {
    [(32, 12, 14, 1), (40, 0, 2, 2)].into_iter().any(|(length, command, version, number)| {
        let records: Vec<&[u8]> = bytes.chunks_exact(length).take(8).collect();
        let word = |record: &[u8], at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        records.len() >= 3
            && records.iter().all(|record| {
                SCSI_COMMANDS.contains(&word(record, command)) && word(record, version) >> 8 == number
            })
    })
}
