//! Nanoseconds per request of the workload generators.

use sledlab_trace::synthetic;

const REQUESTS: u64 = 1_000_000;

fn main() {
    divan::main();
}

#[divan::bench(args = synthetic::LIST.iter().map(|entry| entry.name).collect::<Vec<_>>())]
fn generate(bencher: divan::Bencher, name: &str) {
    let params = toml::from_str(&format!("requests = {REQUESTS}")).expect("valid TOML");
    bencher.counter(divan::counter::ItemsCount::new(REQUESTS)).bench(|| {
        let mut source = synthetic::build(name, &params, 1, 6_750_000).expect("the device is large enough");
        let mut requests = Vec::new();
        let mut total = 0;
        while source.fill(&mut requests).expect("generators do not fail") > 0 {
            total += requests.len();
            requests.clear();
        }
        total
    });
}
