//! Whatever bytes a reader gets, it returns requests or a helpful error. `make fuzz` checks the same for minutes.

#[path = "../examples/fuzz/check.rs"]
mod check;
#[path = "../examples/fuzz/mutate.rs"]
mod mutate;
#[path = "../examples/fuzz/samples.rs"]
mod samples;

use check::{check, check_work};
use proptest::prelude::*;
use sledlab_trace::format;

fn damage(seed: u64, sample: &[u8], other: &[u8]) -> Vec<u8> {
    mutate::mutate(&mut sledlab_core::seed::stream(seed, "damage"), sample, other)
}

#[test]
fn samples_are_valid() {
    for name in format::names() {
        let samples = samples::for_format(name);
        assert!(!samples.is_empty(), "{name} has no samples");
        for sample in samples {
            assert_eq!(check(&sample, Some(name)), check(&sample, None));
            for compressed in samples::compress_all(&sample) {
                assert_eq!(check(&compressed, Some(name)), check(&sample, None));
            }
        }
    }
}

#[test]
fn samples_of_work_records_are_valid() {
    for sample in samples::work() {
        let signature = check_work(&sample);
        assert!(signature.starts_with('['), "{signature}");
        for compressed in samples::compress_all(&sample) {
            assert_eq!(check_work(&compressed), signature);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), which in 0..format::LIST.len()) {
        check(&bytes, None);
        check(&bytes, Some(format::LIST[which].name()));
    }

    #[test]
    fn random_text_never_panic(text in "[-+0-9a-zRWTF,. \n#x]{0,200}", which in 0..format::LIST.len()) {
        check(text.as_bytes(), None);
        check(text.as_bytes(), Some(format::LIST[which].name()));
    }

    #[test]
    fn damaged_traces_never_panic(seed: u64, which in 0..format::LIST.len(), other in 0..format::LIST.len()) {
        let name = format::LIST[which].name();
        let other = samples::for_format(format::LIST[other].name()).remove(0);
        for sample in samples::for_format(name) {
            let bytes = damage(seed, &sample, &other);
            check(&bytes, Some(name));
            check(&bytes, None);
        }
    }

    #[test]
    fn damaged_work_records_never_panic(seed: u64, other in 0..5_usize) {
        let other = &samples::work()[other];
        for sample in samples::work() {
            check_work(&damage(seed, &sample, other));
        }
    }

    #[test]
    fn damaged_compressed_traces_never_panic(seed: u64, which in 0..format::LIST.len()) {
        let sample = samples::for_format(format::LIST[which].name()).remove(0);
        for compressed in samples::compress_all(&sample) {
            check(&damage(seed, &compressed, &sample), None);
        }
    }

    #[test]
    fn truncated_compressed_traces_never_panic(which in 0..format::LIST.len(), cut in 0.0..1.0) {
        let sample = samples::for_format(format::LIST[which].name()).remove(0);
        for compressed in samples::compress_all(&sample) {
            check(&compressed[..(compressed.len() as f64 * cut) as usize], None);
        }
    }
}
