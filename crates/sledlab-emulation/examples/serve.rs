//! Serves a device until the standard input ends: `cargo run --release -p sledlab-emulation --example serve -- --help`.

use std::io::Read;
use std::time::Duration;

use sledlab_core::{Error, Result};
use sledlab_emulation::{Data, HostPath, Listen, Options, Priority, Server};
use sledlab_sim::Experiment;

const HELP: &str = "serve [device=mems-g2] [KEY.KEY=VALUE ...] [socket=PATH | tcp=ADDRESS] [data=FILE | scratch=FILE]
      [scale=10] [host_us=auto|N] [priority=auto|normal|realtime] [recording=FILE] [untimed=true] [seconds=N]
Keys with a dot are those of experiment files, such as scheduler.kind=sptf. Ends after so many seconds, or when the
standard input does; then the report is printed as JSON.";

fn main() {
    if let Err(error) = serve() {
        eprintln!("{error}");
        std::process::exit(2);
    }
}

fn serve() -> Result<()> {
    let mut experiment = Experiment::new();
    experiment.set_device("mems-g2")?;
    experiment.set("system.start", "ready")?;
    let mut options = Options::default();
    let mut seconds = None;
    for argument in std::env::args().skip(1) {
        let Some((key, value)) = argument.split_once('=') else {
            println!("{HELP}");
            return Ok(());
        };
        let wrong = |_| Error::user(format!("`{argument}` makes no sense"));
        match key {
            "device" => experiment.set_device(value)?,
            "socket" => options.listen = Some(Listen::Socket(value.into())),
            "tcp" => {
                let address = value.parse().map_err(|_| Error::user(format!("`{value}` is no address")))?;
                options.listen = Some(Listen::Tcp(address));
            }
            "data" => options.data = Data::File(value.into()),
            "scratch" => options.data = Data::Scratch(value.into()),
            "scale" => options.scale = value.parse()?,
            "host_us" if value == "auto" => options.host_us = HostPath::Auto,
            "host_us" => options.host_us = HostPath::Fixed(value.parse().map_err(wrong)?),
            "priority" => {
                options.priority = match value {
                    "normal" => Priority::Normal,
                    "realtime" => Priority::Realtime,
                    _ => Priority::Auto,
                }
            }
            "recording" => options.recording = Some(value.into()),
            "untimed" => options.untimed = value == "true",
            "seconds" => seconds = Some(value.parse().map_err(wrong)?),
            _ => experiment.set(key, value)?,
        }
    }
    let server = Server::start(&experiment, options)?;
    println!("{}", server.uri());
    match seconds {
        Some(seconds) => std::thread::sleep(Duration::from_secs_f64(seconds)),
        // Whatever comes, and however it ends, it is the end.
        None => drop(std::io::stdin().read_to_end(&mut Vec::new())),
    }
    let report = server.stop(true)?;
    let json = serde_json::to_string_pretty(&report);
    println!("{}", json.map_err(|error| Error::internal(error.to_string()))?);
    if let Some(outcome) = report.outcome {
        eprintln!(
            "{} requests, mean response {:.6} ms",
            outcome.summary.requests, outcome.summary.response_time_ms.stats.mean
        );
    }
    Ok(())
}
