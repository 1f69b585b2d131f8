use super::*;

const G2_BLOCKS: u64 = 6_750_000;

fn make(name: &str, params: &str, seed: u64, capacity: u64) -> Vec<Request> {
    let params = toml::from_str(params).unwrap();
    let mut source = build(name, &params, seed, capacity).unwrap();
    let mut requests = Vec::new();
    while source.fill(&mut requests).unwrap() > 0 {}
    requests
}

#[test]
fn uniform_is_fast_and_ends() {
    let requests = make("uniform", "requests = 5000", 1, G2_BLOCKS);
    assert_eq!(requests.len(), 5000);
}
