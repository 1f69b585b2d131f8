//! A server and a plain client, with models that the tests define.

#[path = "../../tests/host/mod.rs"]
mod host;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use host::{CACHE, DISCONNECT, FLUSH, FUA, Host, READ, TRIM, WRITE, WRITE_ZEROES};
use sledlab_core::{Error, Op, Request, Result, Span, Time};
use sledlab_sim::{Answer, Experiment, Outcome};

use super::*;
use crate::Record;
use crate::model::{ConstantModel, no_contents_error};

const BYTES: u64 = 64 << 20;
const MS: u64 = 1_000_000;

fn options() -> ServerOptions {
    ServerOptions { host_us: HostPath::Fixed(0.0), priority: Priority::Normal, ..ServerOptions::default() }
}

fn start(model: impl Model + 'static, options: ServerOptions) -> (Server, Host) {
    let server =
        Server::start_model(Box::new(model), BYTES, options, Box::new(|| (7, 0)), None).expect("a server");
    let host = Host::connect(server.socket().expect("a socket")).expect("a place");
    (server, host)
}

/// A directory for one test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sledlab-server-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn records(path: &PathBuf) -> Vec<Record> {
    let bytes = fs::read(path).expect("a recording");
    assert!(bytes.len().is_multiple_of(Record::BYTES));
    let mut records: Vec<Record> = bytes
        .chunks_exact(Record::BYTES)
        .map(|record| Record::from_bytes(record.try_into().expect("whole")))
        .collect();
    records.sort_unstable_by_key(|record| record.id);
    records
}

/// A model whose operations take as many microseconds as the number of their block, and fail at block 1,000.
#[derive(Default)]
struct BlockDelayModel {
    issued: u64,
    latest: Time,
}

impl Model for BlockDelayModel {
    fn submit(&mut self, now: Time, request: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)> {
        if request.lbn == 1_000 {
            return Err(Error::user("the scheduler has given up"));
        }
        self.latest = now.max(self.latest + Span::from_ns(1));
        let at = self.latest + Span::from_ns(request.lbn * 1_000);
        let id = self.issued;
        self.issued += 1;
        answers.push(Answer { id, time: at, durable: at });
        Ok((id, self.latest))
    }

    fn next_event(&self) -> Option<Time> {
        None
    }

    fn advance(&mut self, _: Time, _: &mut Vec<Answer>) -> Result<()> {
        Ok(())
    }

    fn queue_length(&self) -> usize {
        3
    }

    fn finish(self: Box<Self>, _: &mut Vec<Answer>) -> Result<Option<Outcome>> {
        Ok(None)
    }

    fn crash(self: Box<Self>, _: Time, _: &mut dyn FnMut() -> bool, _: &mut Vec<Answer>) -> Result<Contents> {
        Err(no_contents_error())
    }
}

#[test]
fn written_data_is_read_back() {
    for untimed in [false, true] {
        let (server, mut host) =
            start(ConstantModel::new(Span::from_ns(MS)), ServerOptions { untimed, ..options() });
        assert_eq!(host.bytes, BYTES);
        let data: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
        // A write that neither begins nor ends at a boundary of blocks, and is longer than a piece.
        assert_eq!(host.write(FUA, 1_003, &data), 0);
        assert_eq!(host.read(1_003, 300_000), data);
        assert_eq!(host.read(1_002, 3), [0, data[0], data[1]]);
        assert_eq!(host.call(TRIM, 0, 0, 2_048, &[]).0, 0);
        assert_eq!(host.read(0, 2_048), [0; 2_048]);
        assert_eq!(host.call(WRITE_ZEROES, FUA, 2_048, 512, &[]).0, 0);
        assert_eq!(host.read(2_047, 514)[..513], [0; 513]);
        assert_eq!(host.call(FLUSH, 0, 0, 0, &[]).0, 0);
        assert_eq!(host.call(CACHE, 0, 0, 4_096, &[]).0, 0);
        // A write past the end is refused; the connection continues.
        assert_eq!(host.write(0, BYTES - 1, &[1, 2]), 28);
        assert_eq!(host.call(READ, 0, BYTES, 1, &[]).0, 22);
        assert_eq!(host.write(0, BYTES - 1, &[1]), 0);
        assert_eq!(host.read(BYTES - 1, 1), [1]);
        let report = server.stop(true).expect("a report");
        let counts = report.counts;
        assert_eq!((counts.reads, counts.writes, counts.flushes, counts.trims), (5, 3, 1, 1));
        assert_eq!((counts.fua, counts.errors, counts.unaligned), (2, 0, 6));
        assert_eq!(counts.bytes_written, 300_000 + 512 + 1);
        // Each request with force unit access is two operations of the model.
        assert_eq!(counts.operations, if untimed { 0 } else { 12 });
        assert_eq!((report.untimed, report.digest_of_rows), (untimed, 7));
    }
}

/// The start of a write: its header, and the first `sent` of `length` bytes of payload.
fn cut_write(host: &mut Host, offset: u64, length: usize, sent_bytes: usize) -> Vec<u8> {
    let mut request = host.request(WRITE, 0, offset, length as u32, &vec![2; length]).1;
    request.truncate(request.len() - length + sent_bytes);
    request
}

#[test]
fn incomplete_write_changes_no_data() {
    let folder = Folder::new();
    for (data, untimed) in
        [(Data::Memory, true), (Data::Memory, false), (Data::File(folder.0.join("disk.img")), true)]
    {
        let (server, mut observer) =
            start(ConstantModel::new(Span::from_ns(MS)), ServerOptions { data, untimed, ..options() });
        assert_eq!(observer.write(0, 0, &[1; 8_192]), 0);
        for (length, sent_bytes) in
            [(4_096, 0), (4_096, 1), (4_096, 1_000), (4_096, 4_095), (300_000, 299_999)]
        {
            let mut disconnecting = Host::connect(server.socket().expect("a socket")).expect("a place");
            // The reply to the complete write shows that the server has parsed the cut one, which is sent with it.
            let (cookie, mut bytes) = disconnecting.request(WRITE, 0, 1 << 20, 512, &[3; 512]);
            bytes.extend(cut_write(&mut disconnecting, 1_024, length, sent_bytes));
            disconnecting.stream.write_all(&bytes).expect("the server reads");
            assert_eq!(disconnecting.reply().expect("a reply"), (cookie, 0, Vec::new()));
            assert_eq!(observer.read(0, 8_192), [1; 8_192], "{sent_bytes} of {length} bytes sent");
            drop(disconnecting);
            assert_eq!(
                observer.read(0, 8_192),
                [1; 8_192],
                "client gone after {sent_bytes} of {length} bytes"
            );
            assert_eq!(observer.read(8_192, 300_000), vec![0; 300_000]);
        }
        let counts = server.stop(true).expect("a report").counts;
        assert_eq!((counts.writes, counts.errors, counts.violations), (6, 0, 0));
    }
}

#[test]
fn pipelined_writes_before_the_cut_are_stored() {
    let (server, mut observer) =
        start(ConstantModel::new(Span::from_ns(MS)), ServerOptions { untimed: true, ..options() });
    let mut disconnecting = Host::connect(server.socket().expect("a socket")).expect("a place");
    // 100 writes of 5,000 bytes: some lie across two reads of the socket.
    let mut bytes: Vec<u8> = (0..100_u8)
        .flat_map(|i| disconnecting.request(WRITE, 0, u64::from(i) * 5_000, 5_000, &[i + 1; 5_000]).1)
        .collect();
    bytes.extend(cut_write(&mut disconnecting, 0, 300_000, 299_999));
    disconnecting.stream.write_all(&bytes).expect("the server reads");
    for _ in 0..100 {
        assert_eq!(disconnecting.reply().expect("a reply").1, 0);
    }
    drop(disconnecting);
    let expected: Vec<u8> = (0..100_u8).flat_map(|i| [i + 1; 5_000]).collect();
    assert_eq!(observer.read(0, 500_000), expected);
    server.stop(true).expect("a report");
}

#[test]
fn replies_leave_in_model_order() {
    let (server, mut host) = start(BlockDelayModel::default(), options());
    // All three are sent at once; block 3,000 takes 3 ms, and so on.
    let mut requests = Vec::new();
    let mut cookies = Vec::new();
    for block in [30_000, 10_000, 20_000] {
        let (cookie, request) = host.request(READ, 0, block * 512, 512, &[]);
        cookies.push(cookie);
        requests.extend(request);
    }
    let start = Instant::now();
    host.stream.write_all(&requests).expect("the server reads");
    let mut times = Vec::new();
    for expected in [cookies[1], cookies[2], cookies[0]] {
        let (cookie, errno, _) = host.reply().expect("a reply");
        assert_eq!((cookie, errno), (expected, 0));
        times.push(start.elapsed());
    }
    for (time, ms) in times.iter().zip([10, 20, 30]) {
        assert!(*time >= Duration::from_micros(ms * 1_000 - 200), "{times:?}");
    }
    server.stop(true).expect("a report");
}

#[test]
fn time_scale_slows_replies() {
    let scale = "20".parse().expect("a scale");
    let (server, mut host) =
        start(ConstantModel::new(Span::from_ns(MS)), ServerOptions { scale, ..options() });
    let start = Instant::now();
    host.read(0, 512);
    assert!(start.elapsed() >= Duration::from_micros(19_800));
    let report = server.stop(true).expect("a report");
    assert!((report.response_mean_us.expect("a reply") - 20_000.0).abs() < 20.0);
}

#[test]
fn requests_before_start_are_immediate_and_unrecorded() {
    let folder = Folder::new();
    let path = folder.0.join("recording");
    let slow_model = ConstantModel::new(Span::from_ns(300 * MS));
    let recording = Some(path.clone());
    let (mut server, mut host) = start(slow_model, ServerOptions { attached: true, recording, ..options() });
    let start = Instant::now();
    assert_eq!(host.write(0, 512, &[5; 512]), 0);
    (0..20).for_each(|_| assert_eq!(host.read(512, 512), [5; 512]));
    assert!(start.elapsed() < Duration::from_secs(3));
    // A file that the server does not provide cannot be measured.
    let other_file = folder.0.join("elsewhere");
    fs::write(&other_file, vec![3; 65_536]).expect("a file");
    let error = server.measure(&other_file).expect_err("the file is not backed by the server");
    assert!(error.message().contains("cannot measure"), "{error}");
    assert_eq!(fs::read(&other_file).expect("the file"), vec![3; 65_536]);
    // The client of before stays connected.
    server.begin().expect("a server that waits");
    let start = Instant::now();
    assert_eq!(host.read(512, 512), [5; 512]);
    assert!(start.elapsed() >= Duration::from_millis(299));
    assert!(server.begin().is_err() && server.measure(&other_file).is_err());
    let report = server.stop(true).expect("a report");
    assert_eq!((report.counts.operations, report.counts.writes, report.counts.connections), (1, 0, 1));
    assert_eq!(records(&path).len(), 1);
}

#[test]
fn attached_server_stops_before_clock_starts() {
    for drain in [false, true] {
        let (server, mut host) =
            start(ConstantModel::new(Span::from_ns(MS)), ServerOptions { attached: true, ..options() });
        host.read(0, 512);
        assert_eq!(server.stop(drain).expect("a report").counts.operations, 0);
    }
}

#[test]
fn recording_has_all_requests() {
    let folder = Folder::new();
    let path = folder.0.join("recording");
    let (server, mut host) = start(
        ConstantModel::with_late_answers(Span::from_ns(MS)),
        ServerOptions { recording: Some(path.clone()), ..options() },
    );
    host.write(0, 4_096, &[1; 8_192]);
    host.read(1_000, 100);
    host.write(FUA, 512, &[2; 512]);
    host.call(TRIM, 0, 1_024, 512, &[]);
    host.call(FLUSH, 0, 0, 0, &[]);
    // The client disconnects before this reply comes.
    host.send_request(READ, 0, 0, 512, &[]);
    while server.status().counts.operations < 7 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let report = server.stop(false).expect("a report");
    assert_eq!(report.counts.operations, 7);
    let records = records(&path);
    let submitted: Vec<_> = records.iter().map(|r| (r.id, r.op, r.lbn, r.blocks, r.flags)).collect();
    let (silent, unaligned) = (Record::SILENT, Record::UNALIGNED);
    assert_eq!(
        submitted[..6],
        [
            (0, 1, 8, 16, 0),
            (1, 0, 1, 2, unaligned),
            (2, 1, 1, 1, silent),
            (3, 3, 0, 0, Record::FUA),
            (4, 2, 2, 1, 0),
            (5, 3, 0, 0, 0),
        ]
    );
    assert_eq!(submitted[6].0, 6);
    for pair in records.windows(2) {
        assert!(pair[0].stamp_ns < pair[1].stamp_ns);
    }
    for record in &records {
        assert_eq!(record.planned_ns, record.stamp_ns + MS);
    }
    // The flush begins when the write has completed.
    assert!(records[3].stamp_ns.abs_diff(records[2].planned_ns) <= 2);
}

#[test]
fn failing_model_leaves_no_client_waiting() {
    let folder = Folder::new();
    let path = folder.0.join("recording");
    let (server, mut host) =
        start(BlockDelayModel::default(), ServerOptions { recording: Some(path.clone()), ..options() });
    let mut other = Host::connect(server.socket().expect("a socket")).expect("a place");
    // This request would take a second.
    let slow_cookie = other.send_request(READ, 0, 100_000 * 512, 512, &[]);
    std::thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    let write_cookie = host.send_request(WRITE, 0, 1_000 * 512, 512, &[0; 512]);
    assert_eq!(host.reply().expect("a reply"), (write_cookie, 5, Vec::new()));
    assert_eq!(other.reply().expect("a reply"), (slow_cookie, 5, Vec::new()));
    assert!(host.reply().is_err() && start.elapsed() < Duration::from_secs(20));
    while !server.has_ended() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(server.status().error.is_some_and(|error| error.contains("given up")));
    assert!(!server.socket().expect("a socket").exists());
    let report = server.stop(true).expect("a report");
    let failure = report.failure.expect("the run has failed");
    assert!(failure.message().contains("the scheduler has given up"));
    assert!(report.outcome.is_none());
    assert_eq!((report.counts.errors, report.counts.operations), (2, 1));
    // A refused request is no operation.
    assert_eq!(records(&path).iter().map(|record| record.id).collect::<Vec<_>>(), [0]);
}

#[test]
fn unreadable_data_fails_its_request() {
    let folder = Folder::new();
    let path = folder.0.join("disk.img");
    let (server, mut host) = start(
        ConstantModel::new(Span::from_ns(MS)),
        ServerOptions { data: Data::File(path.clone()), ..options() },
    );
    assert_eq!(host.write(0, 0, &[9; 512]), 0);
    assert_eq!(fs::read(&path).expect("the file")[..512], [9; 512]);
    // The file is truncated behind the server's back.
    fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(4_096)).expect("the file");
    assert_eq!(host.call(READ, 0, 8_192, 512, &[]).0, 5);
    assert_eq!(host.read(0, 1), [9]);
    let report = server.stop(true).expect("a report");
    assert_eq!((report.counts.errors, report.counts.operations), (1, 2));
}

#[test]
fn requests_beyond_the_limit_wait() {
    let (server, mut host) = start(ConstantModel::new(Span::from_ns(20 * MS)), options());
    let mut stream = host.stream.try_clone().expect("the same connection");
    let requests: Vec<u8> = (0..5_000_u64).flat_map(|i| host.request(READ, 0, i * 512, 512, &[]).1).collect();
    let sender = std::thread::spawn(move || stream.write_all(&requests));
    let mut is_answered = vec![false; 5_001];
    for _ in 0..5_000 {
        let (cookie, errno, _) = host.reply().expect("a reply");
        assert_eq!(errno, 0);
        assert!(!std::mem::replace(&mut is_answered[cookie as usize], true));
    }
    sender.join().expect("no panic").expect("all was read");
    let report = server.stop(true).expect("a report");
    // At most 1,024 requests are in flight at a time, 20 ms each.
    assert!(report.wall_s > 0.08, "{}", report.wall_s);
}

#[test]
fn slow_client_delays_only_itself() {
    let folder = Folder::new();
    let path = folder.0.join("recording");
    let (server, mut slow_client) = start(
        ConstantModel::new(Span::from_ns(MS)),
        ServerOptions { recording: Some(path.clone()), ..options() },
    );
    for _ in 0..3 {
        slow_client.send_request(READ, 0, 0, 4 << 20, &[]);
    }
    let mut other = Host::connect(server.socket().expect("a socket")).expect("a place");
    for _ in 0..20 {
        other.read(0, 512);
    }
    std::thread::sleep(Duration::from_millis(100));
    for _ in 0..3 {
        assert_eq!(slow_client.reply().expect("a reply").2.len(), 4 << 20);
    }
    // A server ends soon, though a client does not read the reply that is being sent.
    slow_client.send_request(READ, 0, 0, 32 << 20, &[]);
    std::thread::sleep(Duration::from_millis(20));
    let start = Instant::now();
    server.stop(true).expect("a report");
    assert!(start.elapsed() < Duration::from_secs(30));
    let delayed_replies =
        records(&path).iter().filter(|record| record.cause() == crate::Cause::Client).count();
    assert!(delayed_replies >= 2, "{delayed_replies}");
}

#[test]
fn disconnecting_client_gets_its_replies() {
    let (server, mut host) = start(ConstantModel::new(Span::from_ns(20 * MS)), options());
    let cookie = host.send_request(READ, 0, 0, 512, &[]);
    host.send_request(DISCONNECT, 0, 0, 0, &[]);
    assert_eq!(host.reply().expect("a reply").0, cookie);
    assert!(host.reply().is_err());
    // A client also ends soon after its server ends.
    let mut other = Host::connect(server.socket().expect("a socket")).expect("a place");
    other.send_request(READ, 0, 0, 512, &[]);
    std::thread::sleep(Duration::from_millis(10));
    server.stop(true).expect("a report");
    assert_eq!(other.reply().expect("a reply").1, 0);
}

#[test]
fn replay_reproduces_live_results() {
    for device in ["ram", "mems-g2"] {
        let folder = Folder::new();
        let path = folder.0.join("recording");
        let mut experiment = Experiment::new();
        experiment.set_device(device).expect("a device");
        let server = Server::start(&experiment, ServerOptions { recording: Some(path.clone()), ..options() })
            .expect("a server");
        let mut host = Host::connect(server.socket().expect("a socket")).expect("a place");
        let requests_bytes: Vec<u8> = (0..200_u64)
            .flat_map(|i| match i % 7 {
                3 => host.request(WRITE, FUA, i * 7_919 * 512, 512, &[0; 512]).1,
                5 => host.request(FLUSH, 0, 0, 0, &[]).1,
                _ => host.request(READ, 0, i * 104_729 % 200_000 * 512, 4_096, &[]).1,
            })
            .collect();
        host.stream.write_all(&requests_bytes).expect("the server reads");
        (0..200).for_each(|_| assert_eq!(host.reply().expect("a reply").1, 0));
        let report = server.stop(true).expect("a report");
        let records = records(&path);
        assert_eq!(records.len() as u64, report.counts.operations);
        let ops = [Op::Read, Op::Write, Op::Trim, Op::Flush];
        let requests = records.iter().map(|r| Request {
            arrival: Time::from_ns(r.stamp_ns),
            lbn: r.lbn,
            blocks: r.blocks,
            op: ops[usize::from(r.op)],
            ..Request::default()
        });
        let (digest, summary) = replay(&experiment, requests.collect());
        assert_eq!(digest, report.digest_of_rows);
        assert_eq!(summary, report.outcome.expect("an outcome").summary.requests);
    }
}

fn replay(experiment: &Experiment, requests: Vec<Request>) -> (u64, u64) {
    use sledlab_core::Source;
    use sledlab_core::source::MemorySource;
    use sledlab_sim::Hooks;

    let mut digest = RowsDigest::default();
    let source: Option<Box<dyn Source>> = Some(Box::new(MemorySource::new(requests)));
    let rows: sledlab_sim::RowSink = Box::new(|rows| {
        digest.update(rows);
        Ok(())
    });
    let outcome = experiment.run(Hooks { source, rows: Some(rows), ..Hooks::default() }).expect("a replay");
    (digest.value(), outcome.summary.requests)
}
