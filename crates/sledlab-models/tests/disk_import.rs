//! Disks in DiskSim parameter files become devices.

use std::io::{Error as IoError, ErrorKind};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use sledlab_core::error::ErrorOrigin;
use sledlab_core::params::Params;
use sledlab_models::device::disk::DiskParams;
use sledlab_models::device::disk::import::{self, ImportedDisk};
use sledlab_models::device::disk::params::{LbnOrder, ReadAhead, SeekCurveKind, Sparing};
use sledlab_models::device::disksim::{OpenFile, ParameterFile};
use sledlab_models::device::{Description, preset};

/// A sample disk of no particular make, in three files.
const DISK: &str = "
# A disk between other things.
disksim_global Global { Init Seed = 42, Stat definition file = statdefs }
disksim_bus BUS { type = 1, Read block transfer time = 0.17, Write block transfer time = 0.03 }
disksim_disk sample {
   Model = source parts/sample.model,
   Per-request overhead time = 0.0, Time scale for overheads = 2.0, Bulk sector transfer time = 0.099,
   Hold bus entire read xfer = 1, Hold bus entire write xfer = 1, Never disconnect = 0, # both ways
   Allow almost read hits = 1, Allow read hits on write data = 1, Max queue length = 16,
   Scheduler = disksim_ioqueue { Scheduling policy = 1, Timeout time/weight = 0 },
   Number of buffer segments = 10, Maximum number of write segments = 2, Segment size (in blks) = 374,
   Use separate write segment = 1, Low (write) water mark = 0.25, High (read) water mark = 0.75,
   Set watermark by reqsize = 1, Enable caching in buffer = 1, Buffer continuous read = 4,
   Minimum read-ahead (blks) = 0, Maximum read-ahead (blks) = 354, Read-ahead over requested = -1,
   Read-ahead on idle hit = 1, Fast write level = 2, Read any free blocks = 1, Immediate buffer write = 0,
   Combine seq writes = 1, Stop prefetch in sector = 0, Write hit stop prefetch = 1,
   Read hit over. after read = 0.184, Read hit over. after write = 0.185,
   Read miss over. after read = 0.1, Read miss over. after write = 0.2,
   Write hit over. after read = 0.3, Write hit over. after write = 0.4,
   Write miss over. after read = 0.5, Write miss over. after write = 0.6,
   Read completion overhead = 0.01, Write completion overhead = 0.02, Data preparation overhead = 0.03,
   First reselect overhead = 0.04, Other reselect overhead = 0.05,
   Read disconnect afterread = 0.06, Read disconnect afterwrite = 0.07, Write disconnect overhead = 0.08,
   Extra write disconnect = 1, Extradisc command overhead = 0.09, Extradisc disconnect overhead = 0.11,
   Extradisc inter-disconnect delay = 0.12, Extradisc seek delta = 0.13, Minimum seek delay = 0.6
} # end
instantiate [ disk0 .. disk1 ] as sample
";

const MODEL: &str = "
dm_disk sample_model {
   Number of data surfaces = 3, Number of cylinders = 40, Block count = 900,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 1, Sparing scheme used = 9, Rangesize for sparing = 1,
      Zones = [
         dm_layout_g1_zone { # outer
            First cylinder number = 0, Last cylinder number = 9, Blocks per track = 20,
            Offset of first block = 0.000000, Empty space at zone front = 5,
            Skew for track switch = 3.000000, Skew for cylinder switch = 4, Number of spares = 6,
            slips = [ 30, 10, 10 ], defects = [ 40, 599 ]
         },
         dm_layout_g1_zone {
            First cylinder number = 11, Last cylinder number = 39, Blocks per track = 10,
            Offset of first block = 2, Empty space at zone front = 0,
            Skew for track switch = 1, Skew for cylinder switch = 2, Number of spares = 0, slips = [ ]
         }
      ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation, Seek type = extracted, Full seek curve = sample.seek,
      Add. write settling delay = -0.5, Head switch time = 0.9, Rotation speed (in rpms) = 5400,
      Percent error in rpms = 0.0
   }
}
";

const SEEK: &str = "Seek distances measured: 3\n1,\t1.25\n2,\t1.20 # noise\n\n30,\t9.5\n";

/// The sample with the second kind of seek curve.
const ROOT: &str = "Seek type = hplplus10, First ten seek times = [ 2.5, 3.5 ],
   HPL seek equation values = [ 20, 2.0, 0.5, 4.0, 0.0059, -1.0 ],";

type Files = [(&'static str, String); 2];

fn files() -> Files {
    [("parts/sample.model", MODEL.to_owned()), ("parts/sample.seek", SEEK.to_owned())]
}

fn import(text: &str, file: &Path, name: Option<&str>, open: OpenFile) -> sledlab_core::Result<ImportedDisk> {
    import::import(&ParameterFile::read(text.as_bytes(), file, open)?, name)
}

fn import_disk(
    disk: &str,
    files: &[(&str, String)],
    name: Option<&str>,
) -> sledlab_core::Result<ImportedDisk> {
    let open = |path: &Path| {
        let file = files.iter().find(|(name, _)| Path::new(name) == path);
        file.map(|(_, text)| text.clone().into_bytes()).ok_or_else(|| IoError::from(ErrorKind::NotFound))
    };
    import(disk, Path::new("sample.parv"), name, &open)
}

fn sample() -> ImportedDisk {
    import_disk(DISK, &files(), None).unwrap()
}

/// The error for the sample with one piece of text replaced by another.
fn error_after_change(old: &str, new: &str) -> String {
    error_after_changes(&[(old, new)])
}

fn assert_close(ours: f64, theirs: f64) {
    assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}");
}

#[test]
fn every_parameter_is_imported() {
    let ImportedDisk { name, params: DiskParams { flat, zones, seek_table }, .. } = sample();
    assert_eq!((name.as_str(), flat.heads, flat.rpm), ("sample", 3, 5400));
    assert_eq!((flat.lbn_order, flat.sparing), (LbnOrder::Serpentine, Sparing::Zone));
    assert_eq!((flat.read_ahead, flat.buffers_writes), (ReadAhead::SequentialTrack, true));
    assert!(flat.drops_requested && flat.keeps_sector_under_head && flat.writes_empty_segments);
    assert_eq!((flat.cache_segments, flat.segment_sectors), (10, 374));
    assert!(flat.zero_latency_reads && flat.extra_write_disconnect);
    assert_close(flat.write_settle_ms, -0.5);
    assert_close(flat.read_watermark, 0.75);
    // Overheads are scaled; the slower of drive and bus counts.
    assert_close(flat.read_hit_after_write_us, 370.0);
    assert_close(flat.minimum_write_seek_us, 1200.0);
    assert_eq!(flat.queue_depth, 16);
    assert_close(flat.bus_sector_us, 170.0);
    assert_close(flat.bus_write_sector_us, 99.0);
    assert_eq!(flat.seek_curve, SeekCurveKind::Table);
    assert_eq!(seek_table, [(1, 1.25), (2, 1.2), (30, 9.5)]);
    let shape = &zones[0].shape;
    assert_eq!((shape.cylinders, shape.reserved_sectors, shape.track_skew_sectors), (10, 5, 3));
    assert_eq!(zones[0].remapped, [(40, 599)]);
    assert_eq!((zones[1].shape.first_cylinder, zones[1].shape.first_sector_offset), (11, 2));
}

#[test]
fn unordered_slips_become_skipped_sectors() {
    // The slip of sector 30 is applied first; the two slips of sector 10 then move the sectors behind it on by two.
    assert_eq!(sample().params.zones[0].slipped, [10, 11, 32]);
}

#[test]
fn root_seek_curve_is_imported() {
    let files = [files()[0].clone()].map(|(name, text)| {
        (name, text.replace("Seek type = extracted, Full seek curve = sample.seek,", ROOT))
    });
    let DiskParams { flat, seek_table, .. } = import_disk(DISK, &files, None).unwrap().params;
    assert_eq!((flat.seek_curve, flat.line_from_cylinders), (SeekCurveKind::RootAndLine, 20));
    assert_eq!(seek_table, [(1, 2.5), (2, 3.5)]);
    assert_close(flat.root_constant_ms, 2.0);
    assert_close(flat.root_factor_ms, 0.5);
    assert_close(flat.line_constant_ms, 4.0);
    assert_close(flat.line_slope_us, 5.9);
}

#[test]
fn omitted_parameters_get_remarks() {
    let remarks = sample().remarks;
    for expected in [
        "`Write disconnect overhead = 0.08` is ignored",
        "`Block count = 900` is ignored: the zones hold",
        "The slips of device.zones[0] are not in order",
        "Power and idle timeout are assumptions",
    ] {
        assert!(remarks.iter().any(|remark| remark.contains(expected)), "{expected}: {remarks:?}");
    }
    assert_eq!(remarks.len(), 4, "{remarks:?}");
}

#[test]
fn writes_a_device_file_that_reads_back() {
    let imported = sample();
    let text = imported.to_toml("a\nfile.parv");
    assert!(text.contains("\nread_hit_after_read_us = 368.0 ") && !text.lines().any(|line| line.len() > 240));
    let read = preset::from_table(&toml::from_str(&text).unwrap()).unwrap();
    assert_eq!(*read.params, *imported.params.clone_box());
}

#[test]
fn block_is_chosen_by_name() {
    let two = DISK.to_owned() + &DISK.replace("disksim_disk sample", "disksim_disk other");
    let open = |_: &Path| Ok(MODEL.as_bytes().to_vec());
    let file = ParameterFile::read(two.as_bytes(), Path::new("two.parv"), &open).unwrap();
    assert_eq!(file.names("disksim_disk"), ["sample", "other"]);
    assert_eq!(import_disk(&two, &files(), Some("other")).unwrap().name, "other");
    let message = |name| import_disk(&two, &files(), name).unwrap_err().to_string();
    assert!(message(None).contains("describes 2 devices") && message(None).contains("sample, other"));
    assert!(message(Some("othe")).contains("did you mean `other`?"));
    assert!(
        import_disk(MODEL, &files(), None).unwrap_err().to_string().contains("has no `disksim_disk` block")
    );
}

#[test]
fn errors_name_cause_and_location() {
    let check = |old: &str, new: &str, expected: &str| {
        let message = error_after_change(old, new);
        assert!(message.contains(expected), "{old} -> {new}: {message}");
    };
    check("Fast write level", "Fast write leveq", "sample.parv:15:32");
    check("Fast write level", "Fast write leveq", "did you mean `Fast write level`?");
    check(
        "continuous read = 4",
        "continuous read = 5",
        "known: 0 (none), 1 (track), 2 (cylinder), 3 (segment), 4",
    );
    check("Combine seq writes = 1,", "", "add `Combine seq writes`");
    check("Combine seq writes = 1", "Combine seq writes = 1, Combine seq writes = 1", "is given twice");
    check(
        "by reqsize = 1",
        "by reqsize = 0",
        "`Set watermark by reqsize = 0` is only modeled at 1: DiskSim takes the watermark as a share of the segment",
    );
    check("Segment size (in blks) = 374", "Segment size (in blks) = 3.5", "expected a whole number");
    check("after read = 0.184", "after read = fast", "expected a number, found `fast`");
    check("after read = 0.184", "after read = 0.1 ms", "expected one value, found `0.1 ms`");
    check("after read = 0.184", "after read = -0.1", "out of range");
    check("after read = 0.184,", "after read = ,", "expected a value after `=`");
    check("Scheduler = disksim_ioqueue {", "Scheduler = {", "expected a value after `=`");
    check("} # end\ninstantiate [ disk0 .. disk1 ] as sample\n", "", "the file ends before this is closed");
    check("source parts/sample.model", "source none.model", "cannot read none.model");
    check("source parts/sample.model", "simple", "`Model`: expected a block");
    check("dm_disk sample_model", "dm_other x", "expected a `dm_disk` block, found `dm_other`");
}

#[test]
fn model_errors_name_cause() {
    let check = |old: &str, new: &str, expected: &str| {
        let message = error_after_change(old, new);
        assert!(message.contains(expected), "{old} -> {new}: {message}");
    };
    check("rpms) = 5400", "rpms) = 0", "parts/sample.model:22:65");
    check("rpms) = 5400", "rpms) = 0", "device.rpm = 0 rpm is out of range");
    check("Sparing scheme used = 9", "Sparing scheme used = 5", "`Sparing scheme used = 5` is not modeled");
    check(
        "First cylinder number = 11,",
        "First cylinder number = 9,",
        "but the zone before ends on cylinder 9",
    );
    check("Last cylinder number = 9,", "Last cylinder number = -1,", "ends before it begins");
    check("slips = [ 30", "slips = [ -30", "expected a number not below 0");
    check("slips = [ 30", "slips = [ 600", "the zone has no sector 602");
    check("defects = [ 40,", "defects = [", "expected pairs of sectors");
    check("Seek type = extracted", "Seek type = linear", "known: extracted, hplplus10");
    check("Full seek curve = sample.seek,", "", "`Full seek curve` is missing");
    check("= sample.seek", "= other.seek", "cannot read the seek times in parts/other.seek");
    check("measured: 3", "measured: 4", "declares 4 seek times but contains 3");
    check("2,\t1.20", "2,\tfast", "parts/sample.seek:3");
    check("30,\t9.5", "30,\t0.5", "a seek over 30 cylinders takes 0.5 ms");
    check("1,\t1.25", "5,\t1.25", "begins at 5 cylinders");
    let [model, seek] = files();
    let zones = model.1.find("Zones = [").unwrap()..model.1.find("   },\n   Mech").unwrap();
    for (cut, expected) in [("Zones = []", "has no zones"), ("", "add `Zones`")] {
        let text = [&model.1[..zones.start], cut, &model.1[zones.end..]].concat();
        let message = import_disk(DISK, &[(model.0, text), seek.clone()], None).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn self_including_files_are_errors() {
    let open = |_: &Path| Ok(b"source loop source loop disksim_disk".to_vec());
    let message = import("source loop", Path::new("loop"), None, &open).unwrap_err().to_string();
    assert!(message.contains("are nested more than"), "{message}");
    let open = |_: &Path| Ok(b"dm_disk a { Layout Model = source loop }".to_vec());
    assert!(import("disksim_disk a { Model = source loop }", Path::new("loop"), None, &open).is_err());
    for opening in ["{", "[", "disksim_disk a {", "disksim_disk a { b = c {", "disksim_disk a { b = ["] {
        assert!(import(&opening.repeat(100_000), Path::new("deep"), None, &open).is_err());
    }
    let nested_text = "disksim_disk a { b = ".to_owned() + &"[".repeat(100_000);
    let message = import(&nested_text, Path::new("deep"), None, &open).unwrap_err().to_string();
    assert!(message.contains("nest more than"), "{message}");
}

/// The error for the sample with several pieces of text replaced by others, in the files that have them.
fn error_after_changes(changes: &[(&str, &str)]) -> String {
    let mut disk = DISK.to_owned();
    let mut texts = files();
    for (old, new) in changes {
        assert!(disk.contains(old) || texts.iter().any(|(_, text)| text.contains(old)), "{old}");
        disk = disk.replacen(old, new, 1);
        for (_, text) in &mut texts {
            *text = text.replacen(old, new, 1);
        }
    }
    let error = import_disk(&disk, &texts, None).unwrap_err();
    assert_eq!(error.origin(), ErrorOrigin::User);
    error.to_string()
}

#[test]
fn all_faults_of_all_files_are_reported() {
    let message = error_after_changes(&[
        ("Fast write level", "Fast write leveq"),
        ("by reqsize = 1", "by reqsize = 0"),
        ("after read = 0.184", "after read = fast"),
        ("Sparing scheme used = 9", "Sparing scheme used = 5"),
        ("First cylinder number = 0, ", ""),
        ("Percent error in rpms = 0.0", "Percent error in rpms = 0.006669"),
        ("1,\t1.25", "1,\tslow"),
        ("30,\t9.5", "30"),
        ("measured: 3", "measured: 4"),
    ]);
    let expected = [
        "10 faults in sample.parv, parts/sample.model, parts/sample.seek:",
        "sample.parv:5:1: parameters are missing",
        "add `Fast write level`",
        "sample.parv:13:4: `Set watermark by reqsize = 0` is only modeled at 1",
        "sample.parv:15:32: unknown parameter `Fast write leveq`",
        "sample.parv:17:4: `Read hit over. after read`: expected a number, found `fast`",
        "parts/sample.model:5:38: `Sparing scheme used = 5` is not modeled: spare sectors lie elsewhere",
        "parts/sample.model:7:10: parameters are missing",
        "add `First cylinder number`",
        "parts/sample.model:23:7: `Percent error in rpms = 0.006669` is only modeled at 0",
        "parts/sample.seek: the file declares 4 seek times but contains 3",
        "parts/sample.seek:2: expected a distance in cylinders",
        "parts/sample.seek:5: expected a distance in cylinders",
    ];
    let mut unread = message.as_str();
    for part in expected {
        let place = unread.find(part).unwrap_or_else(|| panic!("{part} is not in {unread}"));
        unread = &unread[place + part.len()..];
    }
    // Every fault has a remedy, and so has the list.
    assert_eq!(message.matches("help: ").count(), 11, "{message}");
}

#[test]
fn reading_continues_after_faults_of_syntax() {
    let message = error_after_changes(&[
        ("Max queue length = 16,", "Max queue length = 16"),
        ("Segment size (in blks) = 374,", "Segment size (in blks),"),
        ("Fast write level = 2", "Fast write level = , Fast write leveq = 2"),
        ("slips = [ 30, 10, 10 ], defects", "slips = [ 30, 10, 10 ] defects"),
        ("rpms) = 5400", "rpms) = 0"),
    ]);
    for part in [
        "6 faults",
        "sample.parv:9:86: expected `,` after this",
        "sample.parv:11:96: expected `key = value`",
        "expected a value after `=`",
        "unknown parameter `Fast write leveq`",
        "parts/sample.model:11:34: expected `,` after this",
        "device.rpm = 0 rpm is out of range",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    assert!(!message.contains("missing"), "{message}");
}

#[test]
fn unreadable_files_do_not_hide_faults() {
    let message = error_after_changes(&[
        ("source parts/sample.model", "source parts/other.model"),
        ("by reqsize = 1", "by reqsize = 0"),
        ("# A disk between", "source buses.parv # A disk between"),
    ]);
    for part in ["3 faults", "cannot read parts/other.model", "cannot read buses.parv", "only modeled at 1"] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
    let message = error_after_changes(&[("= sample.seek", "= other.seek"), ("rpms) = 5400", "rpms) = 0")]);
    assert!(message.contains("2 faults in parts/sample.model:"), "{message}");
}

#[test]
fn refusals_say_which_times_differ() {
    let check = |old: &str, new: &str, expected: &str| {
        let message = error_after_change(old, new);
        assert!(message.contains(expected), "{old} -> {new}: {message}");
    };
    check("overhead time = 0.0", "overhead time = 0.7", "every response time is shorter here");
    check("Minimum read-ahead (blks) = 0", "Minimum read-ahead (blks) = 8", "start sooner here");
    check("Never disconnect = 0", "Preseeking level = 2", "queued requests take longer here");
    check("Never disconnect = 0", "Allow sneaky full read hits = 1", "such reads take longer here");
    check(
        "Sparing scheme used = 9",
        "Skew units = revolutions, Sparing scheme used = 9",
        "skews in `revolutions`",
    );
    check("dm_layout_g1 {", "dm_layout_g4 {", "rotational latencies differ here");
    check("trackSwitchPlusRotation", "averageRotation", "half a revolution for every rotational latency");
    check("Seek type = extracted", "Seek type = hpl", "use `extracted`");
}

#[test]
fn deviations_of_seek_times_are_ignored() {
    let deviations = "Seek distances measured: 3\n1,\t1.25, 0.024\n2,\t1.20,0 # noise\n\n30,\t9.5, 0.09\n";
    let files = |seek: &str| [files()[0].clone(), ("parts/sample.seek", seek.to_owned())];
    let imported = import_disk(DISK, &files(deviations), None).unwrap();
    assert_eq!(imported.params, sample().params);
    let remark = "The third column of sample.seek";
    assert!(imported.remarks.iter().any(|other| other.starts_with(remark)), "{:?}", imported.remarks);
    for word in ["0.024, 1", "wide", "-0.1", "nan", ""] {
        let seek = deviations.replace("0.024", word);
        let message = import_disk(DISK, &files(&seek), None).unwrap_err().to_string();
        assert!(message.contains("parts/sample.seek:2: expected a distance"), "{word}: {message}");
    }
}

#[test]
fn files_in_other_encodings_are_imported() {
    let utf_16 = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16();
        std::iter::once(0xfeff).chain(units).flat_map(u16::to_be_bytes).collect()
    };
    let with_mark = |text: &str| ["\u{feff}", text].concat().replace('\n', "\r\n").into_bytes();
    for [disk, model, seek] in [[DISK, MODEL, SEEK].map(utf_16), [DISK, MODEL, SEEK].map(with_mark)] {
        let open = |path: &Path| Ok(if path.ends_with("sample.model") { &model } else { &seek }.clone());
        let file = ParameterFile::read(&disk, Path::new("sample.parv"), &open).unwrap();
        assert_eq!(import::import(&file, None).unwrap(), sample());
    }
    let binary =
        |path: &Path| Ok(if path.ends_with("sample.model") { MODEL.into() } else { b"PAR1\0\0".to_vec() });
    let message = import(DISK, Path::new("sample.parv"), None, &binary).unwrap_err().to_string();
    assert!(message.starts_with("parts/sample.seek: the file is not text"), "{message}");
}

fn reference() -> Option<PathBuf> {
    let root = std::env::var_os("SLEDLAB_REFERENCE").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference"),
        PathBuf::from,
    );
    let folder = root.join("disks/params");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no reference parameter files (set SLEDLAB_REFERENCE)");
    None
}

/// The presets and the files they come from.
const DRIVES: [(&str, &str, &str); 11] = [
    ("atlas-10k", "atlas10k", "atlas10k"),
    ("atlas-iii", "atlas_III", "atlas_III"),
    ("barracuda", "barracuda", "barracuda"),
    ("cheetah-4lp", "cheetah4LP", "cheetah4LP"),
    ("cheetah-9lp", "cheetah9LP", "cheetah9LP"),
    ("ibm-18es", "ibm18es", "ibm18es"),
    ("hp-c2247a", "hp_c2247a", "hp_c2247a"),
    ("hp-c2490a", "hp_c2490a", "hp_c2490a"),
    ("hp-c3323a", "hp_c3323a_validate", "hp_c3323a"),
    ("dec-rz26", "dec_rz26", "dec_rz26"),
    ("seagate-st41601n", "st41601n", "st41601n"),
];

fn import_file(path: &Path) -> DiskParams {
    let text = std::fs::read_to_string(path).unwrap();
    import(&text, path, None, &|path| std::fs::read(path)).unwrap().params
}

/// The disk with the powers, which the files lack, and the bus, which belongs to the host, of `preset`.
fn with_choices_of(mut params: DiskParams, preset: &DiskParams) -> DiskParams {
    let (flat, other) = (&mut params.flat, &preset.flat);
    // DiskSim's values, where presets follow the drive.
    assert!(!flat.keeps_sector_under_head && flat.writes_empty_segments);
    flat.keeps_sector_under_head = other.keeps_sector_under_head;
    flat.writes_empty_segments = other.writes_empty_segments;
    flat.bus_sector_us = other.bus_sector_us;
    flat.bus_write_sector_us = other.bus_write_sector_us;
    flat.idle_timeout_ms = other.idle_timeout_ms;
    flat.idle_state = other.idle_state;
    flat.startup_ms = other.startup_ms;
    flat.off_startup_ms = other.off_startup_ms;
    flat.active_mw = other.active_mw;
    flat.idle_mw = other.idle_mw;
    flat.sleep_mw = other.sleep_mw;
    flat.startup_mw = other.startup_mw;
    params
}

#[test]
fn imported_drives_equal_presets() {
    let Some(folder) = reference() else { return };
    for (name, specs, parv) in DRIVES {
        let file = preset::from_table(&preset::text(name).unwrap().parse().unwrap()).unwrap();
        let expected = DiskParams::from_table("device", &file.params.to_table()).unwrap();
        for file in [format!("{specs}.diskspecs"), format!("{parv}.parv")] {
            let imported = import_file(&folder.join(&file));
            assert_eq!(with_choices_of(imported, &expected), expected, "{file}");
        }
        // The complete configuration also contains the parameters of the host.
        let imported = import_file(&folder.join(format!("{parv}.parv"))).flat;
        let facts = std::fs::File::open(folder.join(format!("../drives/{parv}.json"))).unwrap();
        let facts: serde_json::Value = serde_json::from_reader(facts).unwrap();
        let sector_us = |op| facts["bus"][format!("effective_{op}_sector_transfer_us")].as_f64().unwrap();
        assert_close(imported.bus_sector_us, sector_us("read"));
        assert_close(imported.bus_write_sector_us, sector_us("write"));
    }
}

proptest! {
    #[test]
    fn arbitrary_text_gives_device_or_user_error(
        text in "(disksim_disk|dm_disk|source|[a-z ]{0,5}|[{}=,#\\[\\]]|-?[0-9.]{1,4}|\\PC|\n){0,60}",
    ) {
        for name in [None, Some("a")] {
            if let Err(error) = import_disk(&text, &[("a", text.clone())], name) {
                prop_assert_eq!(error.origin(), ErrorOrigin::User);
            }
        }
    }

    #[test]
    fn mutated_file_gives_device_or_user_error(
        which in 0_usize..3, at: prop::sample::Index, cut in 0_usize..12,
        new in "(-?[0-9.]{1,9}|1e[0-9]{1,3}|nan|[a-z ]{0,5}|[{}=,#\\[\\]]|source sample.seek|\\PC)",
    ) {
        let mut texts = [DISK.to_owned(), MODEL.to_owned(), SEEK.to_owned()];
        let start = at.index(texts[which].len());
        let end = (start + cut).min(texts[which].len());
        texts[which].replace_range(start..end, &new);
        let [disk, model, seek] = texts;
        if let Err(error) = import_disk(&disk, &[("parts/sample.model", model), ("parts/sample.seek", seek)], None) {
            prop_assert_eq!(error.origin(), ErrorOrigin::User);
        }
    }

    #[test]
    fn truncated_disk_file_is_an_error(cut in 1..DISK.find("instantiate").unwrap()) {
        let end = DISK.find("} # end").unwrap();
        prop_assert_eq!(import_disk(&DISK[..cut], &files(), None).is_ok(), cut > end);
    }

    #[test]
    fn truncated_model_is_an_error(cut in 0..MODEL.len() - 2) {
        let [model, seek] = files();
        prop_assert!(import_disk(DISK, &[(model.0, model.1[..cut].to_owned()), seek], None).is_err());
    }
}
