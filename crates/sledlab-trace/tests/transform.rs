//! The effect of each transformation step on a stream, and that the result satisfies the invariants of a stream.

use crate::trace_reader::{self, read_all, request};
use proptest::prelude::*;
use sledlab_core::Op::{Flush, Read, Trim, Write};
use sledlab_core::source::MemorySource;
use sledlab_core::{Request, Result, Time};
use sledlab_trace::transform::{
    BlockRange, Fit, Limit, Merge, MetadataBlocks, NumberByName, OpFilter, OutsidePolicy, PlaceDevices,
    RandomLastBlock, Reorder, ScaleAddresses, SelectedDevices, Sequence, Shift, SingleDevice, Speedup,
    Spread, TimeWindow, TransformStep, TransformedSource, survey,
};
use sledlab_trace::{Continuation, OpenOptions, OpenedTrace, open_reader};

fn apply_step(step: impl TransformStep, requests: &[Request]) -> Result<Vec<Request>> {
    read_all(TransformedSource::new(MemorySource::new(requests), step))
}

fn sample() -> Vec<Request> {
    vec![
        request(0, Read, 0, 8, 0),
        request(10, Write, 90, 10, 2),
        request(10, Trim, 95, 100, 1),
        request(20, Flush, 0, 0, 2),
        request(30, Read, 250, 4, 2),
    ]
}

#[test]
fn selection_returns_matching_requests() {
    let all = sample();
    assert_eq!(apply_step(Limit::new(2, u64::MAX), &all).unwrap(), all[..2]);
    assert_eq!(apply_step(Limit::new(3, u64::MAX), &all).unwrap(), all[..5]);
    assert_eq!(apply_step(Limit::new(3, 4), &all).unwrap(), all[..4]);
    assert_eq!(apply_step(Limit::new(2, 4), &all).unwrap(), all[..2]);
    assert_eq!(apply_step(OpFilter::new([Read, Write]), &all).unwrap(), [all[0], all[1], all[4]]);
    let window = |from_zero| TimeWindow { from: Time::from_ns(10), until: Time::from_ns(30), from_zero };
    assert_eq!(apply_step(window(false), &all).unwrap(), all[1..4]);
    assert_eq!(apply_step(window(true), &all).unwrap()[2].arrival.as_ns(), 10);
    assert_eq!(apply_step(BlockRange { first: 90, end: 250 }, &all).unwrap(), all[1..4]);
    let select_lbns = |text| {
        let source = SelectedDevices::new(MemorySource::new(&all[..]), Continuation::default(), [text]);
        read_all(source).map(|requests| requests.iter().map(|r| (r.device, r.lbn)).collect::<Vec<_>>())
    };
    assert_eq!(select_lbns("2,0").unwrap(), [(0, 0), (2, 90), (2, 0), (2, 250)]);
    let message = select_lbns("2,7").unwrap_err().to_string();
    assert!(message.contains("no request is for the device `7`") && message.contains("0, 1, 2"), "{message}");
}

/// A trace whose devices have names, and the names.
fn named(text: &str, format: &str) -> (OpenedTrace, Continuation) {
    let names = Continuation::default();
    let reader = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
    let options = OpenOptions { format: Some(format), continuation: Some(&names), ..OpenOptions::default() };
    (open_reader("t", reader, options).unwrap(), names)
}

#[test]
fn devices_are_selected_by_name() {
    let select = |(source, names): (OpenedTrace, Continuation), text: &str| {
        let source = SelectedDevices::new(source, names, [text]);
        read_all(source).map(|requests| requests.iter().map(|r| r.lbn).collect::<Vec<_>>())
    };
    let blkparse = "8,16 0 1 0.1 1 Q R 1 + 1 [a]\n8,0 0 1 0.2 1 Q R 2 + 1 [a]\n8,1 0 1 0.3 1 Q R 3 + 1 [a]\n";
    for (text, lbns) in [("8,16", vec![1]), ("8,0,8,1", vec![2, 3]), (" 8,1 ", vec![3])] {
        assert_eq!(select(named(blkparse, "blkparse"), text).unwrap(), lbns, "{text}");
    }
    assert!(select(named(blkparse, "blkparse"), "8,2").is_err());
    let msr = "1,usr,0,Read,512,512,1\n2,usr,3,Read,1024,512,1\n3,src,0,Read,1536,512,1\n";
    assert_eq!(select(named(msr, "msr"), "src_0,usr_3").unwrap(), [2, 3]);
    assert_eq!(select(named(msr, "msr"), "3").unwrap(), [2], "one host has a disk 3");
    let message = select(named(msr, "msr"), "0").unwrap_err().to_string();
    assert!(message.contains("several devices") && message.contains("usr_0, usr_3, src_0"), "{message}");
}

#[test]
fn numeric_names_become_device_numbers() {
    let (source, names) = named("3,0,512,r,0\n1,0,512,r,1\n70000,0,512,r,2\n3,0,512,r,3\n", "spc");
    let new_names = Continuation::default();
    let numbered = TransformedSource::new(source, NumberByName::new(names, new_names.clone()));
    let devices: Vec<u16> = read_all(numbered).unwrap().iter().map(|r| r.device).collect();
    assert_eq!(devices, [3, 1, 0, 3]);
    assert_eq!([&*new_names.name(0), &*new_names.name(3)], [b"70000".as_slice(), b"3"]);
}

#[test]
fn second_device_is_refused_where_one_is_needed() {
    assert!(
        apply_step(SingleDevice::new("mail"), &sample()).unwrap_err().to_string().contains("several volumes")
    );
    let of_one_device = [request(0, Read, 0, 8, 5), request(1, Read, 8, 8, 5)];
    assert!(apply_step(SingleDevice::new("mail"), &of_one_device).unwrap().iter().all(|r| r.device == 0));
}

#[test]
fn addresses_are_scaled() {
    let lbns: Vec<u64> =
        apply_step(ScaleAddresses::new(0.5).unwrap(), &sample()).unwrap().iter().map(|r| r.lbn).collect();
    let halves: Vec<u64> = sample().iter().map(|r| r.lbn / 2).collect();
    assert_eq!(lbns, halves);
    assert!(ScaleAddresses::new(0.0).is_err() && ScaleAddresses::new(f64::NAN).is_err());
    assert!(apply_step(ScaleAddresses::new(1e18).unwrap(), &sample()).is_err());
}

#[test]
fn equal_arrivals_are_spread_over_their_resolution() {
    let second = 1_000_000_000;
    let requests: Vec<Request> =
        [0, 0, 0, 0, 3, 3].iter().map(|s| request(s * second, Read, 0, 1, 0)).collect();
    let spread = read_all(Spread::new(MemorySource::new(&requests[..]), 1.0).unwrap()).unwrap();
    let ns: Vec<u64> = spread.iter().map(|r| r.arrival.as_ns()).collect();
    assert_eq!(ns, [0, second / 4, second / 2, 3 * second / 4, 3 * second, 3 * second + second / 2]);
    assert!(Spread::new(MemorySource::new(&requests[..]), -1.0).is_err());
}

#[test]
fn sequence_starts_each_trace_after_the_one_before() {
    let mut remaining_traces = 3;
    let next_trace = move || {
        remaining_traces -= 1;
        let requests =
            vec![request(0, Read, 1, 1, 0), request(10, Read, 2, 1, 0), request(20, Read, 3, 1, 0)];
        Ok((remaining_traces >= 0)
            .then(|| Box::new(MemorySource::new(requests)) as Box<dyn sledlab_core::Source>))
    };
    let ns: Vec<u64> =
        read_all(Sequence::new(Box::new(next_trace))).unwrap().iter().map(|r| r.arrival.as_ns()).collect();
    assert_eq!(ns, [0, 10, 20, 30, 40, 50, 60, 70, 80]);
}

#[test]
fn devices_are_concatenated() {
    let extents = survey(&mut MemorySource::new(sample())).unwrap();
    assert_eq!(
        (extents.extents.clone(), extents.highest_end(), extents.requests),
        (vec![8, 195, 254], 254, 5)
    );
    let place = PlaceDevices::new(&extents.extents).unwrap();
    assert_eq!(place.starts(), [0, 8, 203]);
    let lbns: Vec<u64> = apply_step(place, &sample()).unwrap().iter().map(|r| r.lbn).collect();
    assert_eq!(lbns, [0, 293, 103, 0, 453]);
}

#[test]
fn shifts_stay_in_address_range() {
    assert_eq!(apply_step(Shift { blocks: 5 }, &sample()).unwrap()[1].lbn, 95);
    let error = apply_step(Shift { blocks: -1 }, &sample()).unwrap_err().to_string();
    assert!(error.contains("block 0 cannot be moved by -1 blocks"), "{error}");
    assert!(apply_step(Shift { blocks: i64::MAX }, &sample()).is_err());
}

#[test]
fn requests_outside_device_follow_option() {
    let fit = |policy| apply_step(Fit::new(policy, 100, Some(254)).unwrap(), &sample());
    let places = |policy| fit(policy).unwrap().iter().map(|r| (r.lbn, r.blocks)).collect::<Vec<_>>();
    let error = fit(OutsidePolicy::Reject).unwrap_err().to_string();
    assert!(
        error.starts_with("request 2, blocks 95 to 194, lies outside the device of 100 blocks"),
        "{error}"
    );
    assert!(error.contains("`--outside wrap`"));
    assert_eq!(places(OutsidePolicy::Wrap), [(0, 8), (90, 10), (0, 100), (0, 0), (50, 4)]);
    assert_eq!(places(OutsidePolicy::Clip), [(0, 8), (90, 10), (95, 5), (0, 0)]);
    assert_eq!(places(OutsidePolicy::Scale), [(0, 8), (35, 10), (0, 100), (0, 0), (96, 4)]);
    let step = Fit::new(OutsidePolicy::Clip, 100, None).unwrap();
    let counts = step.counts();
    apply_step(step, &sample()).unwrap();
    assert_eq!((counts.moved_count(), counts.shortened_count(), counts.dropped_count()), (0, 1, 1));
    assert!(Fit::new(OutsidePolicy::Scale, 100, None).is_err());
    assert!(Fit::new(OutsidePolicy::Wrap, 0, None).is_err());
    let message =
        apply_step(Fit::new(OutsidePolicy::Wrap, 3, None).unwrap(), &sample()).unwrap_err().to_string();
    assert!(message.starts_with("request 0 of 8 blocks is longer than the device of 3 blocks"), "{message}");
    assert_eq!(OutsidePolicy::from_name("wrap").unwrap(), OutsidePolicy::Wrap);
    assert!(OutsidePolicy::from_name("warp").unwrap_err().to_string().contains("did you mean `wrap`?"));
}

#[test]
fn speed_divides_times() {
    assert_eq!(apply_step(Speedup::new(0.5).unwrap(), &sample()).unwrap()[4].arrival.as_ns(), 60);
    assert!([0.0, -1.0, f64::NAN, f64::INFINITY].iter().all(|factor| Speedup::new(*factor).is_err()));
    assert!(apply_step(Speedup::new(1e-300).unwrap(), &sample()).is_err());
    let late_request = [request(u64::MAX, Read, 0, 1, 0)];
    assert_eq!(apply_step(Speedup::new(1.0).unwrap(), &late_request).unwrap(), late_request);
}

#[test]
fn clipping_requests_all_of_new_last_block() {
    let part = |lbn| Request { unrequested_words: 9, ..request(0, Read, lbn, 4, 0) };
    let fitted =
        apply_step(Fit::new(OutsidePolicy::Clip, 100, None).unwrap(), &[part(96), part(98)]).unwrap();
    assert_eq!(fitted.iter().map(|r| r.unrequested_words).collect::<Vec<_>>(), [9, 0]);
}

#[test]
fn random_part_of_last_block_is_uniform() {
    let requests: Vec<Request> = (0..64_000).map(|i| request(i * 1000, Read, i, 2, 0)).collect();
    let randomize = |seed, requests: &[Request]| apply_step(RandomLastBlock::new(seed), requests).unwrap();
    let randomized = randomize(1, &requests);
    let mut counts = [0_u32; 64];
    for request in &randomized {
        counts[usize::from(request.unrequested_words)] += 1;
    }
    assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    assert!(randomized.iter().zip(&requests).all(|(a, b)| Request { unrequested_words: 0, ..*a } == *b));
    assert_eq!(randomized, randomize(1, &randomized), "the draw ignores earlier values");
    assert_ne!(randomized, randomize(2, &requests));
    // Neither arrivals nor trims and flushes change the draw.
    let faster: Vec<Request> = apply_step(Speedup::new(10.0).unwrap(), &requests).unwrap();
    let unrequested = |requests: &[Request]| requests.iter().map(|r| r.unrequested_words).collect::<Vec<_>>();
    assert_eq!(unrequested(&randomize(1, &faster)), unrequested(&randomized));
    let with_others: Vec<Request> =
        requests.iter().flat_map(|r| [request(0, Flush, 0, 0, 0), request(0, Trim, 0, 1, 0), *r]).collect();
    let with_others = randomize(1, &with_others);
    assert!(with_others.iter().all(|r| r.op == Read || r.unrequested_words == 0));
    assert_eq!(
        unrequested(&with_others.iter().copied().skip(2).step_by(3).collect::<Vec<_>>()),
        unrequested(&randomized)
    );
}

#[test]
fn bytes_of_metadata_blocks_are_requested() {
    let metadata =
        |op, unrequested_words| Request { metadata: true, unrequested_words, ..request(0, op, 0, 4, 0) };
    let all = [metadata(Read, 5), metadata(Write, 0), metadata(Trim, 0), request(0, Read, 0, 4, 0)];
    // Of 64 words of 8 bytes a block; a partly requested word is requested.
    for (block_bytes, unrequested_words) in
        [(1, 63), (4, 63), (128, 48), (129, 47), (504, 1), (505, 0), (512, 0)]
    {
        let partial = |request| Request { unrequested_words, is_partial_throughout: true, ..request };
        let expected = [partial(all[0]), partial(all[1]), all[2], all[3]];
        assert_eq!(apply_step(MetadataBlocks::new(block_bytes), &all).unwrap(), expected);
        let clipped = apply_step(Fit::new(OutsidePolicy::Clip, 3, None).unwrap(), &expected[..1]).unwrap();
        assert_eq!(clipped, [Request { blocks: 3, ..expected[0] }]);
    }
    let throughout = apply_step(MetadataBlocks::new(4), &all).unwrap();
    let last_block = apply_step(RandomLastBlock::new(1), &throughout).unwrap();
    assert!(last_block.iter().all(|request| !request.is_partial_throughout));
}

fn merge<const N: usize>(sources: [MemorySource; N]) -> Merge<MemorySource> {
    Merge::new(sources.map(|source| (source, Continuation::default())), Continuation::default())
}

#[test]
fn devices_with_equal_names_are_joined() {
    let files = ["1,usr,0,Read,512,512,1\n2,usr,1,Read,1024,512,1\n", "1,usr,1,Read,1536,512,1\n"];
    let names = Continuation::default();
    let merged = Merge::new(files.map(|text| named(text, "msr")), names.clone()).join_devices();
    let devices: Vec<u16> = read_all(merged).unwrap().iter().map(|r| r.device).collect();
    assert_eq!(devices, [0, 1, 1]);
    assert_eq!(&*names.name(1), b"usr_1");
}

#[test]
fn merged_traces_are_sorted_with_distinct_devices() {
    let a = MemorySource::new(vec![request(5, Read, 1, 1, 7), request(9, Read, 2, 1, 7)]);
    let b = MemorySource::new(vec![
        request(0, Read, 3, 1, 7),
        request(5, Read, 4, 1, 0),
        request(9, Read, 5, 1, 7),
    ]);
    let order: Vec<(u64, u16)> =
        read_all(merge([a.clone(), b.clone()])).unwrap().iter().map(|r| (r.lbn, r.device)).collect();
    assert_eq!(order, [(3, 0), (1, 1), (4, 2), (2, 1), (5, 0)]);
    assert!(read_all(merge([a, b]).join_devices()).unwrap().iter().all(|r| [0, 7].contains(&r.device)));
    assert!(read_all(merge([])).unwrap().is_empty());
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let one = (0_u64..1000, 0_u64..1 << 40, 1_u32..5000, 0_u16..4, 0_usize..3);
    prop::collection::vec(one, 1..200).prop_map(|all| {
        let mut ns = 0;
        let make = |(gap, lbn, blocks, device, op)| {
            ns += gap;
            request(ns, [Read, Write, Trim][op], lbn, blocks, device)
        };
        all.into_iter().map(make).collect()
    })
}

proptest! {
    #[test]
    fn fitted_requests_are_inside_device(all in requests(), capacity in 5000_u64..1 << 41, policy in 1_usize..4) {
        let policy = [OutsidePolicy::Reject, OutsidePolicy::Wrap, OutsidePolicy::Clip, OutsidePolicy::Scale][policy];
        let highest = survey(&mut MemorySource::new(all.clone())).unwrap().highest_end();
        let fitted = apply_step(Fit::new(policy, capacity, Some(highest)).unwrap(), &all).unwrap();
        prop_assert!(fitted.iter().all(|r| r.end() <= capacity && r.blocks > 0));
        if highest <= capacity {
            prop_assert_eq!(&fitted, &all);
        } else if policy == OutsidePolicy::Clip {
            prop_assert!(fitted.len() <= all.len());
        } else {
            prop_assert_eq!(fitted.len(), all.len());
        }
        if policy == OutsidePolicy::Scale {
            // Scaling keeps the order of first blocks, except of requests moved to fit at the very end.
            let mut pairs: Vec<(u64, u64)> =
                all.iter().zip(&fitted).filter(|(_, f)| f.end() < capacity).map(|(a, f)| (a.lbn, f.lbn)).collect();
            pairs.sort_unstable();
            prop_assert!(pairs.is_sorted_by_key(|(_, place)| *place));
        }
    }

    #[test]
    fn reordering_sorts_requests_within_window(all in requests(), swaps in prop::collection::vec(0_usize..200, 0..50)) {
        let mut shuffled = all.clone();
        for at in swaps.iter().filter(|at| **at + 1 < all.len()).step_by(2) {
            shuffled.swap(*at, *at + 1);
        }
        let sorted = trace_reader::read_all(Reorder::new(UnorderedSource(shuffled), 50)).unwrap();
        prop_assert!(sorted.is_sorted_by_key(|r| r.arrival));
        prop_assert_eq!(sorted.len(), all.len());
    }

    #[test]
    fn merging_keeps_all_requests(a in requests(), b in requests()) {
        let sources = [MemorySource::new(a.clone()), MemorySource::new(b.clone())];
        let merged = trace_reader::read_all(merge(sources).join_devices()).unwrap();
        prop_assert!(merged.is_sorted_by_key(|r| r.arrival));
        let key = |r: &Request| (r.arrival, r.lbn, r.blocks, r.device, r.op.letter());
        let mut expected = [a, b].concat();
        let mut merged = merged;
        expected.sort_by_key(key);
        merged.sort_by_key(key);
        prop_assert_eq!(merged, expected);
    }
}

/// A source whose requests are not in order, as a trace read with a sort window may be.
struct UnorderedSource(Vec<Request>);

impl sledlab_core::Source for UnorderedSource {
    fn fill(&mut self, into: &mut Vec<Request>) -> Result<usize> {
        let count = self.0.len();
        into.append(&mut self.0);
        Ok(count)
    }

    fn progress(&self) -> Option<f64> {
        None
    }
}
