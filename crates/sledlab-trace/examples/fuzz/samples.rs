//! Valid traces to start from, with a few lines in each format.

/// Short valid traces of a format.
pub fn for_format(format: &str) -> Vec<Vec<u8>> {
    let texts: &[&str] = match format {
        "csv" => &[
            "time_us,op,offset_bytes,length_bytes\n0,R,1024,4096\n7.25,W,100,512\n8,T,0,1048576\n9,F,0,0\n",
            "time_us,op,offset_bytes,length_bytes,device\n5,R,1024,4096,3\n6,W,512,1,0\n",
            "time_us,op,offset_bytes,length_bytes,device,metadata\n5,R,1024,128,3,1\n6,W,512,512,0,0\n",
        ],
        "disksim-ascii" => &["0.000000 0 1130508 8 1\n38.795788 2 843900 21 0\n1e2 0 5 1 11\n"],
        "disksim-validate" => &["R Miss 1130508 8 21392.02 17403.765\nW Hit 843900 21 17264.9 22142.546\n"],
        "msr" => &[
            "128166372003061629,hm,1,Read,383496192,32768,413\n128166372003061630,web,0,Write,1000,24,5\n",
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n1,h,0,Read,0,512,1\n",
        ],
        "spc" => &["0,303567,3584,w,0.000000\n1,55590,3072,R,0.026214\n0,5,1,r,0.026214000,x,y\n"],
        "blkparse" => &[
            "  8,0    3        2     0.500000100   697  Q   W 223490 + 8 [kjournald]\n  \
             8,16   1        1     0.600000001   697  Q FWS [jbd2]\n  \
             8,0    3        7     0.700000000   697  Q  DS 2048 + 4096 [fstrim]\n\
             CPU3 (8,0):\n Reads Queued: 1\n",
            "8,0 0 1 0.000000000 1 I R 8 + 8 [a]\n8,0 0 2 0.000001000 1 D R 8 + 8 [a]\n",
        ],
        "fio-iolog" => &[
            "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 0 4096\n/dev/sdb wait 1500 0\n\
             /dev/sda write 8192 512\n/dev/sda sync 0 0\n/dev/sda close\n",
            "fio version 3 iolog\n2 Nvme1n1 add\n878 Nvme1n1 write 0 16384\n888 Nvme1n1 trim 512 512\n",
            "0, 1043, 0, 4096, 8192\n2, 900, 1, 512, 0, 0x0004\n2, 900, 2, 1024, 512, 0, 17\n",
        ],
        "alibaba" => {
            &["419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n"]
        }
        "columns" => {
            &["length_bytes,time_us,op,host,offset_bytes\n4096,0,R,a,1024\n512,7.25,write,b,100\n0,9,F,b,0\n"]
        }
        "fio-iolog-us" => &["fio version 2 iolog\n/dev/sda read 0 4096\n/dev/sda write 8192 512\n"],
        "fiu" => &["89967390 5 mysqld 512 8 W 6 0 a1f0\n89967490 5 my sqld 520 16 R 8 16 00ff\n"],
        "mqsim" => &["4851300 1 524288 16 0\n4864300 1 524304 16 1\n1000004871300 0 524320 16 0\n"],
        "systor" => {
            &["Timestamp,Response,IOType,LUN,Offset,Size\n1456000000.1,0.000124,R,0,1074790400,4096\n\
             1456000000.2,,W,1,8192,8192\n"]
        }
        "tencent" => &["1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1627\n"],
        _ => &[],
    };
    let mut samples: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    match format {
        "srt" => samples.push(srt()),
        "oracle-general" => samples.push(oracle_general()),
        _ => {}
    }
    samples
}

fn oracle_general() -> Vec<u8> {
    let records: [(u32, u64, u32, i64); 5] =
        [(7, 8, 4096, 3), (7, 512, 0, -1), (8, 64, 512, -1), (9, 8, 4096, -1), (9, 9, 100, -1)];
    let record = |(seconds, object, size, next): (u32, u64, u32, i64)| {
        [&seconds.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    records.into_iter().flat_map(record).collect()
}

fn srt() -> Vec<u8> {
    let disk = "{ nspt = 2, ntpc = 3, ncyl = 400, sectorsize = 256, sections = { 8 -> { \"/\", size = (0 6144) } } }";
    let mut bytes = format!("$$TR_IOREC-1.3 (x)\ndisks = {{ 0 -> {disk}, 1 -> {disk} }};\n\x0c").into_bytes();
    for (seconds, size, sector, device, flags) in
        [(7, 1024, 4, 0x0800_0008, 1), (8, 256, 23, 0x0800_000f, 0x10), (8, 512, 1, 0x0800_0107, 3)]
    {
        let record: [u32; 14] =
            [56, 0x0004_0001, seconds, 250, 0, 9, size, sector, device, 4, 1, flags, 0, 1];
        bytes.extend(record.iter().flat_map(|word| word.to_be_bytes()));
    }
    bytes
}

/// Valid work records: the samples, and one that uses the other ways of writing.
pub fn work() -> Vec<Vec<u8>> {
    const ALTERNATIVE_FORMS: &str = r#"{"work": 1, "job": "j", "seed": 7, "parameters": {"a": [0.1, null]}, "nodes": 3, "lines": 4, "files": {"f": [9, 0, 7], "g": 5}, "groups": {"b": ["a", 2], "a": [0]}, "answer": "sha256:0"}
{"phase": "p", "nodes": ["b"], "reads": [{"file": "f", "order": "random"}, {"file": "g", "bytes": 4, "per_block_of": "f"}], "sends": {"each": 5, "2": 0, "client": 1}}
{"phase": "p", "node": 1, "sends": "varint:iCcAiCcF", "operations": {"hash": 5}, "message_bytes": 2, "memory": 6}
{"phase": "p", "collective": "gather", "bytes": [1, 2], "group": "b", "root": 1}
{"phase": "q", "nodes": "all", "writes": [{"file": "g", "order": "merge", "runs": 2}], "sends": [1, 0, 2, 3]}
"#;
    let sample_files: [&[u8]; 4] = [
        include_bytes!("../../../../sample/work/scan.work"),
        include_bytes!("../../../../sample/work/sort.work"),
        include_bytes!("../../../../sample/work/join.work"),
        include_bytes!("../../../../sample/work/exchange.work"),
    ];
    sample_files.into_iter().chain([ALTERNATIVE_FORMS.as_bytes()]).map(<[u8]>::to_vec).collect()
}

/// Returns the bytes in every compression that is read, in an archive, and text in UTF-16.
pub fn compress_all(text: &[u8]) -> Vec<Vec<u8>> {
    use std::io::Write;
    // Writing to memory does not fail.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    let _ = (gzip.write_all(text), bzip2.write_all(text), xz.write_all(text));
    let zstd = zstd::encode_all(text, 3);
    let compressed = [gzip.finish(), bzip2.finish(), xz.finish(), zstd].into_iter().flatten();
    compressed.chain([archive(text)]).chain(utf_16(text)).collect()
}

/// Returns a tar archive of one file.
fn archive(text: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    let mut archive = tar::Builder::new(Vec::new());
    // Writing to memory does not fail.
    let _ = archive.append_data(&mut header, "trace", text);
    archive.into_inner().unwrap_or_default()
}

/// Returns a text in UTF-16 with a byte order mark; nothing for bytes that are no text.
fn utf_16(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok().filter(|text| !text.contains('\0'))?;
    Some(["\u{feff}", text].concat().encode_utf16().flat_map(u16::to_le_bytes).collect())
}
