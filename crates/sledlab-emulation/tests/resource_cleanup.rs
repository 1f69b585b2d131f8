//! Servers leave no thread and no open file, whatever clients do. This is a separate test program, since it counts
//! those of the process.

mod host;

use std::fs;
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use host::{Host, READ, WRITE};
use sledlab_emulation::{HostPath, Priority, Server, ServerOptions};
use sledlab_sim::Experiment;

fn count_entries(folder: &str) -> usize {
    fs::read_dir(folder).expect("a readable folder").count()
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn server_leaves_no_threads_or_files() {
    let initial_counts = (count_entries("/proc/self/task"), count_entries("/proc/self/fd"));
    let mut experiment = Experiment::new();
    experiment.set_device("ram").expect("a device");
    let options = ServerOptions {
        host_us: HostPath::Fixed(0.0),
        priority: Priority::Normal,
        ..ServerOptions::default()
    };
    let server = Server::start(&experiment, options.clone()).expect("a server");
    let socket = server.socket().expect("a socket").to_path_buf();
    let open_files = count_entries("/proc/self/fd");

    // A thousand clients, some of which disconnect in the middle of a message.
    for client in 0..1_000 {
        let mut host = Host::connect(&socket).expect("a place");
        match client % 4 {
            0 => assert_eq!(host.read(0, 512).len(), 512),
            1 => drop(host.send_request(READ, 0, 0, 1 << 20, &[])),
            2 => drop(host.send_request(WRITE, 0, 0, 4096, &[1; 100])),
            _ => host.stream.write_all(&[7; 28]).expect("bytes are sent"),
        }
    }
    wait_until("clients that have left are forgotten", || count_entries("/proc/self/fd") <= open_files);
    let mut host = Host::connect(&socket).expect("a place");
    assert_eq!(host.read(0, 512).len(), 512);

    // More clients at a time than are served: they wait to be accepted, and have their turn.
    let clients: Vec<_> = (0..100)
        .map(|_| {
            let socket = socket.clone();
            thread::spawn(move || Host::connect(&socket).expect("a place").read(0, 4096).len())
        })
        .collect();
    assert!(clients.into_iter().all(|client| client.join().is_ok_and(|read| read == 4096)));

    let report = server.stop(false).expect("a report");
    assert!(report.counts.connections >= 1_101, "{:?}", report.counts);
    assert!(report.counts.violations >= 200, "{:?}", report.counts);
    // The client that was connected before finds its connection broken.
    let (_, request) = host.request(READ, 0, 0, 512, &[]);
    assert!(host.stream.write_all(&request).is_err() || host.reply().is_err());
    drop(host);
    assert!(!socket.exists() && !socket.parent().expect("a directory").exists());

    // A server that is dropped without being stopped, and one that does not start.
    drop(Server::start(&experiment, options.clone()).expect("a server"));
    let invalid_recording = ServerOptions { recording: Some("/nowhere/at/all".into()), ..options };
    assert!(Server::start(&experiment, invalid_recording).is_err());
    wait_until("threads end", || count_entries("/proc/self/task") <= initial_counts.0);
    assert!(count_entries("/proc/self/fd") <= initial_counts.1);
}
