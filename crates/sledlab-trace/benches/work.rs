//! Reading and writing the work record of an exchange of all with all between 1,024 nodes.

use std::io::Cursor;

use sledlab_trace::work::{MAX_COUNT, NodeStep, Phase, Work, pack};

const NODES: u64 = 1024;

fn main() {
    divan::main();
}

/// Uneven numbers of bytes, up to three digits of kilobytes, as a sort sends them.
fn bytes(from: u64, to: u64) -> u64 {
    let scattered = (from * NODES + to + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    1_000_000 + scattered % 100_000
}

/// A record with a line for each node; its sends are a packed row or a list.
fn record(is_packed: bool) -> Vec<u8> {
    let header = format!(
        "{{\"work\": 1, \"job\": \"sort\", \"nodes\": {NODES}, \"files\": {{\"data\": {MAX_COUNT}}}}}\n"
    );
    let line = |node: u64| {
        let row = (0..NODES).map(|to| bytes(node, to));
        let sends =
            if is_packed { format!("{:?}", pack(row)) } else { format!("{:?}", row.collect::<Vec<_>>()) };
        format!(
            "{{\"phase\": \"exchange\", \"node\": {node}, \"reads\": [{{\"file\": \"data\"}}], \"operations\": \
             {{\"pack\": 5}}, \"sends\": {sends}}}\n"
        )
    };
    let lines = (0..NODES).map(line);
    std::iter::once(header).chain(lines).collect::<String>().into_bytes()
}

fn parse(text: &[u8]) -> Work {
    Work::parse("memory", Cursor::new(text.to_vec())).expect("reads")
}

#[divan::bench(args = ["packed", "lists", "zstd"])]
fn read(bencher: divan::Bencher, form: &str) {
    let text = record(form != "lists");
    let text = if form == "zstd" { zstd::encode_all(&text[..], 3).expect("packs") } else { text };
    bencher.counter(divan::counter::BytesCount::new(text.len())).bench(|| parse(&text));
}

#[divan::bench]
fn write(bencher: divan::Bencher) {
    let work = parse(&record(true));
    bencher.bench(|| work.write(Vec::new()));
}

/// Measures a record in memory, not one being read.
#[divan::bench]
fn receive(bencher: divan::Bencher) {
    let work = parse(&record(true));
    let pairs: usize = work
        .phases
        .iter()
        .flat_map(|Phase { steps, .. }| steps)
        .map(|NodeStep { sends, .. }| sends.len())
        .sum();
    bencher.counter(divan::counter::ItemsCount::new(pairs)).bench(|| work.phases[0].bytes_received());
}
