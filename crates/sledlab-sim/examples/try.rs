use sledlab_sim::cluster::*;
use sledlab_trace::work::Work;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let work = Work::read(&args[1]).unwrap();
    let mut e = ClusterExperiment::new();
    for kv in &args[2..] { let (k, v) = kv.split_once('=').unwrap(); e.set(k, v).unwrap(); }
    let t = std::time::Instant::now();
    let o = e.run(&work, ClusterHooks { threads: 1, ..Default::default() }).unwrap();
    println!("{} pages {} simulated {:.4} elapsed {} s", t.elapsed().as_secs_f64(), o.pages, o.simulated_share, o.elapsed_ns as f64 / 1e9);
}
