//! Bad input ends in an error blamed on the user, with its place and remedy.

use crate::trace_reader::{error, read};
use sledlab_trace::{OpenOptions, format, open};

#[test]
fn errors_name_line_and_column() {
    let cases: &[(&str, &str, &str)] = &[
        ("0,R,0,512\n-1,R,0,512\n", "csv", "t:2:1: time_us is negative\n  found: -1,R,0,512\n  help: "),
        ("0,R,0,512\n1,X,0,512\n", "csv", "t:2:3: unknown operation"),
        ("0,R,0,512\n1,R,-5,512\n", "csv", "t:2:5: offset_bytes is negative"),
        ("0,R,0,512\n1,R,0\n", "csv", "t:2:6: expected `,` here, but the line ends"),
        ("0,R,0,512\n1,R,0,\n", "csv", "t:2:7: length_bytes is missing"),
        ("0,R,0,512\n1,R,0,512 bytes\n", "csv", "t:2:11: expected `,` here, but other text comes"),
        ("0,R,0,512\n1,R,18446744073709551616,512\n", "csv", "t:2:5: offset_bytes is too large"),
        (
            "0,R,0,512\n1,R,18446744073709551615,512\n",
            "csv",
            "t:2:5: the request ends beyond the highest byte address",
        ),
        ("0,T,0,9999999999999\n", "csv", "t:1:5: a request of 19531250000 blocks"),
        ("99999999999999999999,R,0,512\n", "csv", "t:1:1: time_us is too large"),
        ("0,R,0,512\nnan,R,0,512\n", "csv", "t:2:1: time_us is not a finite number"),
        ("time_us,op,offset_bytes,length_bytes\n", "csv", "t: the trace holds no requests"),
        (
            "time_us,op,offset_bytes,length_bytes,device\n0,R,0,512,70000\n",
            "csv",
            "t:2:11: device number 70000",
        ),
        ("0,R,0,512,0,2\n", "csv", "t:1:13: metadata is neither 0 nor 1"),
        ("0,R,0,512,0,1,1\n", "csv", "t:1:14: unexpected text after the last field"),
        ("time_us,op,offset_bytes,length_bytes,metadata\n0,R,0,512,1\n", "csv", "t:1:1: expected time_us"),
        (
            "5 0 1 1 1\n4.9 0 1 1 1\n",
            "disksim-ascii",
            "t:2:1: the request arrives 0.1 ms before the one above it",
        ),
        ("nan 0 1 1 1\n", "disksim-ascii", "t:1:1: the arrival in ms is not a finite number"),
        ("-Infinity 0 1 1 1\n", "disksim-ascii", "t:1:1: the arrival in ms is not a finite number"),
        ("1e30 0 1 1 1\n", "disksim-ascii", "t:1:1: the arrival in ms is too large"),
        ("1e 0 1 1 1\n", "disksim-ascii", "t:1:2: the arrival in ms has an invalid exponent"),
        ("0 0 -1 1 1\n", "disksim-ascii", "t:1:5: the block number is negative"),
        ("0 0 1 0 1\n", "disksim-ascii", "t: the trace holds no requests: omitted 1 request of length 0"),
        ("0 0 36028797018963967 1 1\n", "disksim-ascii", "t:1:5: the request ends beyond"),
        ("0 0 1 1\n", "disksim-ascii", "t:1:8: expected a space here, but the line ends"),
        ("0 0 1 1 1 1\n", "disksim-ascii", "t:1:11: unexpected text after the last field"),
        ("0 0 1 1 xyz\n", "disksim-ascii", "t:1:9: expected the flags"),
        (
            "R Miss 1 1 5 99999999999999999\nR Miss 1 1 5 99999999999999999\nW M 1 1 1 1\n",
            "disksim-validate",
            "t:1:14: the gap in us is too large",
        ),
        ("0,1,512,w,0.5\n0,1,512,x,0.6\n", "spc", "t:2:9: unknown operation"),
        ("99999999999999999999,h,0,Read,0,512,1\n", "msr", "t:1:1: the timestamp in 100 ns is too large"),
        ("1,h,0,Erase,0,512,1\n", "msr", "t:1:7: unknown type of request"),
        ("fio version 2 iolog\na read 0\n", "fio-iolog", "t:2:9: expected a space here"),
        (
            "fio version 3 iolog\n5 a wait 0 5\n",
            "fio-iolog",
            "t: the trace holds no requests: omitted 1 line `wait`",
        ),
        ("fio version 1 iolog\n", "fio-iolog", "t:1:1: unsupported version of fio's iolog"),
        ("0, 5, 0, 4096\n", "fio-iolog", "t:1:1: the log holds no offsets"),
        ("0, 5, 0, 4096, 0x8001\n", "fio-iolog", "t:1:1: the log holds no offsets"),
        (
            "  8,0 3 1 0.5 697 Q W 1 + 8 [k]\ngarbage\n",
            "blkparse",
            "t:2:1: expected the device as major,minor",
        ),
        ("  8,0 3 1 0.5 697 Q W 1 - 8 [k]\n", "blkparse", "t:1:25: expected `+` here"),
        ("419,X,0,512,1\n", "alibaba", "t:1:5: unknown operation"),
        ("15,1,8,2,3\n", "tencent", "t:1:8: unknown type of request"),
        ("no header\n", "srt", "t:1: expected a header that begins with $$TR_IOREC"),
        (
            "$$TR_IOREC-1.3\ndisks = { 0 -> { nspt = 1 } };\x0c",
            "srt",
            "t:1: the header does not state the geometry of disk 0",
        ),
        ("$$TR_IOREC-1.3\n\x0c", "srt", "t:1: the header names no disks"),
    ];
    for (text, format, expected) in cases {
        let message = error(text.as_bytes(), Some(format));
        assert!(message.starts_with(expected), "{text:?}:\n{message}\nexpected\n{expected}");
        assert!(message.contains("\n  help: "), "{message}");
    }
}

#[test]
fn invalid_value_does_not_prevent_format_detection() {
    for text in
        ["-5.0 0 1 1 1\n", "nan,R,0,512\n", "1,h,0,Read,-5,512,1\n", "0,inf,512,w,0.5\n", "R Hit -3 1 1 1\n"]
    {
        let message = error(text.as_bytes(), None);
        assert!(message.starts_with("t:1:"), "{message}");
        assert!(!message.contains("none of the known"), "{message}");
    }
}

#[test]
fn unknown_format_error_lists_tried_formats() {
    let binary: Vec<u8> = (0..100_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bytes in [&binary[..], b"hello world\n", b"{\"a\": 1}", b"\0\0\0\0", b"1 2 3\n"] {
        let message = error(bytes, None);
        assert!(message.contains("none of the known trace formats (csv, disksim-ascii, "), "{message}");
        assert!(message.contains("--format"), "{message}");
    }
    let secret = b"root:$6$secret:19000:0:99999:7:::\n";
    assert!(error(secret, None).starts_with("t: this is none of the known"), "{}", error(secret, None));
    assert!(!error(secret, None).contains("secret"), "the content of a file that is no trace is not printed");
    assert!(error(secret, Some("csv")).contains("secret"), "an explicit format must report a detailed error");
    assert!(error(b"", None).starts_with("t: the file is empty"));
    assert!(error(b"", Some("csv")).contains("holds no requests"));
    assert!(error(b"PAR1....", None).contains("Parquet traces are read by the Python package"));
    assert!(error(&binary, Some("csv")).starts_with("t:1:"));
}

#[test]
fn endless_line_uses_bounded_memory() {
    let long_line = vec![b'1'; 5_000_000];
    for format in sledlab_trace::format::names().filter(|name| !BINARY.contains(name) && *name != "columns") {
        let message = error(&long_line, Some(format));
        assert!(message.starts_with("t:1:65536: line longer than 65536 bytes"), "{format}: {message}");
        assert!(message.len() < 1000, "{message}");
    }
    let later_long_line = [b"0,R,0,512\n".as_slice(), &long_line].concat();
    assert!(error(&later_long_line, None).starts_with("t:2:65536: line longer"));
    // The limit does not depend on where in the buffer the line lies.
    let ended_long_line = [b"0,R,0,512\n".as_slice(), &long_line[..70_000], b",R,0,512\n"].concat();
    assert!(error(&ended_long_line, None).starts_with("t:2:65536: line longer"));
    // Long lines within the limit are still read, and an error shows only a part of them.
    let digits = [b"0,R,0,".as_slice(), &long_line[..60_000], b"\n"].concat();
    let message = error(&digits, None);
    assert!(message.starts_with("t:1:7: length_bytes is too large") && message.len() < 400, "{message}");
}

#[test]
fn unreadable_path_is_named() {
    let message = |path: &str| open(path, OpenOptions::default()).map(|_| ()).unwrap_err().to_string();
    assert!(message("/nowhere/x.csv").starts_with("/nowhere/x.csv: cannot open: "));
    assert!(message(env!("CARGO_MANIFEST_DIR")).contains("is a directory"));
}

/// Formats whose lines hold byte addresses: a line with the address and length in bytes in the place of `ADDRESS` and
/// `LENGTH`, and a first line where the format needs one.
const BYTE_ADDRESS_LINES: [(&str, &str, &str); 10] = [
    ("csv", "time_us,op,offset_bytes,length_bytes\n", "0,R,ADDRESS,LENGTH\n"),
    ("csv", "", "0,W,ADDRESS,LENGTH,3\n"),
    ("msr", "", "1,h,0,Read,ADDRESS,LENGTH,1\n"),
    ("fio-iolog", "fio version 2 iolog\n", "a read ADDRESS LENGTH\n"),
    ("fio-iolog", "fio version 3 iolog\n", "5 a write ADDRESS LENGTH\n"),
    ("fio-iolog", "", "0, 5, 0, LENGTH, ADDRESS, 0\n"),
    ("fio-iolog-us", "fio version 2 iolog\n", "a read ADDRESS LENGTH\n"),
    ("alibaba", "", "419,R,ADDRESS,LENGTH,1\n"),
    ("systor", "", "1456000000.1,0.5,R,0,ADDRESS,LENGTH\n"),
    ("columns", "op,time_us,offset_bytes,length_bytes\n", "R,0,ADDRESS,LENGTH\n"),
];

/// As [`BYTE_ADDRESS_LINES`], in blocks of 512 bytes.
const BLOCK_ADDRESS_LINES: [(&str, &str, &str); 6] = [
    ("disksim-ascii", "", "0 0 ADDRESS LENGTH 1\n"),
    ("disksim-validate", "", "R Miss ADDRESS LENGTH 1 1\n"),
    ("blkparse", "", "  8,0 3 1 0.5 697 Q W ADDRESS + LENGTH [k]\n"),
    ("tencent", "", "15,ADDRESS,LENGTH,0,3\n"),
    ("mqsim", "", "15 0 ADDRESS LENGTH 0\n"),
    ("fiu", "", "15 1 init ADDRESS LENGTH W 6 0 af\n"),
];

/// Formats without lines.
const BINARY: [&str; 2] = ["srt", "oracle-general"];

#[test]
fn addresses_of_2_63_bytes_are_rejected() {
    let cases = BYTE_ADDRESS_LINES.map(|case| (case, 512)).into_iter();
    let cases = cases.chain(BLOCK_ADDRESS_LINES.map(|case| (case, 1))).collect::<Vec<_>>();
    let spc = ("spc", "", "0,ADDRESS,LENGTH,w,0.5\n");
    for name in format::names().filter(|name| !BINARY.contains(name) && *name != "spc") {
        assert!(cases.iter().any(|((format, ..), _)| *format == name), "{name} has no case");
    }
    for ((format, head, line), unit) in cases {
        let end = (1 << 63) / (512 / unit);
        for (address, length) in
            [(end, unit), (end - unit, unit), (end - unit, 8 * unit), (2 * (end - 1), unit)]
        {
            check_rejected_after_valid_line((format, head, line), address, length, unit);
        }
        check_accepted(format, head, line, end - 2 * unit, unit);
    }
    // SPC addresses blocks and counts bytes.
    for (address, length) in [(1 << 54, 512), ((1 << 54) - 1, 512), ((1 << 54) - 2, 1_024), (u64::MAX, 512)] {
        check_rejected_after_valid_line(spc, address, length, 512);
    }
    check_accepted(spc.0, spc.1, spc.2, (1 << 54) - 2, 512);
}

fn fill_template(line: &str, address: u64, length: u64) -> String {
    line.replace("ADDRESS", &address.to_string()).replace("LENGTH", &length.to_string())
}

fn check_rejected_after_valid_line(
    (format, head, line): (&str, &str, &str),
    address: u64,
    length: u64,
    unit: u64,
) {
    let text = format!(
        "{head}{}{}",
        fill_template(line, unit, unit.max(length)),
        fill_template(line, address, length)
    );
    let message = error(text.as_bytes(), Some(format));
    let place = format!("t:{}:", text.lines().count());
    assert!(message.starts_with(&place) && message.contains("beyond the highest byte address"), "{message}");
}

fn check_accepted(format: &str, head: &str, line: &str, address: u64, length: u64) {
    let text = format!("{head}{}", fill_template(line, address, length));
    let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
    let (_, requests) = read(text.as_bytes(), options).expect("the highest address is accepted");
    assert_eq!((requests[0].lbn, requests[0].blocks), ((1 << 54) - 2, 1), "{format}");
}

#[test]
fn arrivals_after_285_years_are_rejected() {
    // Each text has a last line that arrives a little after 9e18 ns.
    let cases = [
        ("csv", "0,R,0,512\n9000000000000001,R,0,512\n"),
        ("disksim-ascii", "0 0 1 1 1\n9000000000001 0 1 1 1\n"),
        ("disksim-validate", "R Miss 1 1 1 9000000000000001\nR Miss 1 1 1 1\n"),
        ("spc", "0,1,512,w,0\n0,1,512,w,9000000001\n"),
        ("msr", "1,h,0,Read,0,512,1\n90000000000000002,h,0,Read,0,512,1\n"),
        ("fio-iolog", "fio version 2 iolog\na read 0 512\na wait 9000000000001 0\na read 0 512\n"),
        ("fio-iolog-us", "fio version 2 iolog\na read 0 512\na wait 9000000000000001 0\na read 0 512\n"),
        ("fio-iolog", "fio version 3 iolog\n0 a read 0 512\n9000000000000001 a read 0 512\n"),
        ("fio-iolog", "0, 5, 0, 512, 0, 0\n9000000000001, 5, 0, 512, 0, 0\n"),
        ("blkparse", "  8,0 3 1 0.5 697 Q W 1 + 8 [k]\n  8,0 3 1 9000000001 697 Q W 1 + 8 [k]\n"),
        ("alibaba", "419,R,0,512,1\n419,R,0,512,9000000000000002\n"),
        ("tencent", "0,1,1,0,3\n9000000001,1,1,0,3\n"),
        ("systor", "0,0.5,R,0,0,512\n9000000001,0.5,R,0,0,512\n"),
        ("fiu", "0 1 init 1 1 W 6 0 af\n9000000000000000001 1 init 1 1 W 6 0 af\n"),
        ("mqsim", "0 0 1 1 1\n9000000000000000001 0 1 1 1\n"),
        ("columns", "op,time_us,offset_bytes,length_bytes\nR,0,0,512\nR,9000000000000001,0,512\n"),
    ];
    for name in format::names().filter(|name| !BINARY.contains(name)) {
        assert!(cases.iter().any(|(format, _)| *format == name), "{name} has no case");
    }
    for (format, text) in cases {
        let message = error(text.as_bytes(), Some(format));
        let place = format!("t:{}:1: ", text.lines().count());
        assert!(message.starts_with(&place) && message.contains("285 years"), "{format}: {message}");
        let sorting = OpenOptions { format: Some(format), sort_window: 2, ..OpenOptions::default() };
        let message = read(text.as_bytes(), sorting).unwrap_err().to_string();
        assert!(message.contains("285 years"), "{format}: {message}");
    }
}
