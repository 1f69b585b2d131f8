//! DiskSim parameter files become devices with the reference simulator's behavior.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;

use proptest::prelude::*;
use sledlab_core::Result;
use sledlab_core::error::ErrorOrigin;
use sledlab_models::device::disksim::{OpenFile, ParameterFile};
use sledlab_models::device::mems::import::{self, ImportedSled};
use sledlab_models::device::mems::params::{Direction, KinematicsKind, LayoutKind};
use sledlab_models::device::{Description, preset};

/// A sample device of no particular make, in the form of a parameter file.
const DEVICE: &str = "
# A device between other things.
disksim_global Global { Init Seed = 42, Stat definition file = statdefs }
memsmodel_mems sample {
   Points in precomputed seek curve = 0, Seek function = 1, # the closed form
   Command overhead = 0.25, Bulk sector transfer time = 0.00512,
   Number of buffer segments = 4, Segment size (in blks) = 64,
   Number of sleds = 2, Layout policy = 6,
   Sled movement X = 80000, Sled movement Y = 100000, Bit cell length = 40,
   Tip sector length = 80, Servo burst length = 10, Tip sectors per lbn = 64,
   Number of usable tips = 6400, Simultaneously active tips = 1280, Bidirectional access = 0,
   Sled acceleration X = 800.5, Sled acceleration Y = 700, Sled access speed = 700000,
   Sled resonant frequency = 739, Settling time constants = 1.0, Spring constant factor = 0.75,
   Prefetch depth = 0, Time before sled inactive = 100.0, Startup delay = 0.5,
   Sled active power = 90.0, Sled inactive power = 50.0, Tip access power = 1.0,
   Scheduler = disksim_ioqueue { Scheduling policy = 8, Timeout time/weight = 0 }
} # end
instantiate [ mems0 .. mems1 ] as sample
";

fn open_no_file(_: &Path) -> std::io::Result<Vec<u8>> {
    Err(IoError::from(ErrorKind::NotFound))
}

/// The device in a parameter file that refers to no other file.
fn import(text: &str, file: &str, name: Option<&str>) -> Result<ImportedSled> {
    import_with_files(text, file, name, &open_no_file)
}

fn import_with_files(text: &str, file: &str, name: Option<&str>, open: OpenFile) -> Result<ImportedSled> {
    import::import(&ParameterFile::read(text.as_bytes(), Path::new(file), open)?, name)
}

fn sample() -> ImportedSled {
    import(DEVICE, "sample.parv", None).unwrap()
}

/// The error for the sample with one piece of text replaced by another.
fn error_after_change(old: &str, new: &str) -> String {
    assert!(DEVICE.contains(old));
    let error = import(&DEVICE.replace(old, new), "sample.parv", None).unwrap_err();
    assert_eq!(error.origin(), ErrorOrigin::User);
    error.to_string()
}

#[test]
fn every_parameter_is_imported() {
    let ImportedSled { name, params, remarks } = sample();
    assert_eq!(name, "sample");
    assert_eq!((params.kinematics, params.layout), (KinematicsKind::DisksimClosed, LayoutKind::RowFirst));
    assert_eq!((params.direction, params.sleds), (Direction::Up, 2));
    let assert_equal_bits = |ours: f64, theirs: f64| assert_eq!(ours.to_bits(), theirs.to_bits());
    assert_equal_bits(params.travel_x_um, 80.0);
    assert_equal_bits(params.block_transfer_us, 5.12);
    assert_equal_bits(params.tip_rate_kbit_s, 700.0);
    assert_equal_bits(params.acceleration_x_m_s2, 800.5);
    assert_equal_bits(params.startup_mw, 90.0);
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    assert!(remarks[0].contains("`Number of buffer segments = 4` is ignored"));
    assert!(remarks[1].contains("--scheduler sptf"));
}

#[test]
fn writes_a_device_file_that_reads_back() {
    let imported = sample();
    let text = imported.to_toml("a\nfile.parv");
    assert!(text.contains("\ncommand_overhead_ms = 0.25"));
    let read = preset::from_table(&toml::from_str(&text).unwrap()).unwrap().params;
    assert_eq!(*read, *imported.params.clone_box());
}

#[test]
fn block_is_chosen_by_name() {
    let two_devices = DEVICE.to_owned() + &DEVICE.replace("memsmodel_mems sample", "memsmodel_mems other");
    let file = ParameterFile::read(two_devices.as_bytes(), Path::new("two.parv"), &open_no_file).unwrap();
    assert_eq!(file.names("memsmodel_mems"), ["sample", "other"]);
    assert_eq!(import(&two_devices, "two.parv", Some("other")).unwrap().name, "other");
    let message = |name| import(&two_devices, "two.parv", name).unwrap_err().to_string();
    assert!(message(None).contains("describes 2 devices") && message(None).contains("sample, other"));
    assert!(message(Some("othe")).contains("did you mean `other`?"));
    let same_name_twice = DEVICE.to_owned() + DEVICE;
    assert!(
        import(&same_name_twice, "f", Some("sample"))
            .unwrap_err()
            .to_string()
            .contains("two devices called `sample`")
    );
    assert!(
        import("", "empty.specs", None).unwrap_err().to_string().contains("has no `memsmodel_mems` block")
    );
}

#[test]
fn included_file_is_imported() {
    let open = |path: &Path| {
        assert_eq!(path, Path::new("dir/sleds.specs"));
        Ok(DEVICE.as_bytes().to_vec())
    };
    let result = import_with_files("source sleds.specs", "dir/run.parv", None, &open);
    assert_eq!(result.unwrap(), sample());
    let error = import("source sleds.specs", "dir/run.parv", None).unwrap_err().to_string();
    assert!(error.contains("dir/run.parv:1:8") && error.contains("cannot read dir/sleds.specs"), "{error}");
}

#[test]
fn errors_name_cause_and_location() {
    let error = error_after_change("Layout policy", "Layout polcy");
    assert!(error.contains("sample.parv:8:25"), "{error}");
    assert!(error.contains("did you mean `Layout policy`?"), "{error}");
    assert!(
        error_after_change("Layout policy = 6", "Layout policy = 3")
            .contains("`Layout policy = 3` is not modeled")
    );
    assert!(error_after_change("Seek function = 1", "Seek function = 2").contains("known: 0, 1"));
    assert!(error_after_change("seek curve = 0", "seek curve = 5").contains("is only modeled at 0"));
    assert!(error_after_change("Bit cell length = 40", "Bit cell length = 0").contains("out of range"));
    assert!(
        error_after_change("Bit cell length = 40", "Bit cell length = nan").contains("expected a number")
    );
    assert!(
        error_after_change("Bit cell length = 40", "Bit cell length = 40 nm").contains("expected one value")
    );
    assert!(
        error_after_change("Bit cell length = 40", "Bit cell length = [40]").contains("expected one value")
    );
    assert!(error_after_change("Bit cell length = 40", "Bit cell length =").contains("expected a value"));
    assert!(error_after_change("Bit cell length = 40,", "Bit cell length = 40").contains("expected `,`"));
    assert!(error_after_change("Bit cell length = 40", "= 40").contains("expected a key"));
    assert!(error_after_change("tips = 1280", "tips = 1280.5").contains("expected a whole number"));
    assert!(error_after_change("tips = 1280", "tips = 7000").contains("the device has no blocks"));
    assert!(
        error_after_change("Spring constant factor = 0.75", "Spring constant factor = 0")
            .contains("not defined")
    );
    assert!(error_after_change("Startup delay = 0.5,", "").contains("add `Startup delay`"));
    assert!(
        error_after_change("Startup delay = 0.5", "Servo burst length = 9").contains("on line 10 already")
    );
    assert!(
        error_after_change("} # end\ninstantiate [ mems0 .. mems1 ] as sample\n", "")
            .contains("the file ends before this is closed")
    );
    assert!(error_after_change("sample {", "sample").contains("expected a name and `{`"));
    assert!(error_after_change("disksim_global Global {", "}").contains("no block or list to close"));
}

#[test]
fn all_faults_are_reported() {
    let text = DEVICE
        .replace("Layout policy", "Layout polcy")
        .replace("seek curve = 0", "seek curve = 5")
        .replace("Command overhead = 0.25, ", "Command overhead = 0.25 ")
        .replace("Bit cell length = 40", "Bit cell length = 0")
        .replace("Startup delay = 0.5,", "");
    let message = import(&text, "sample.parv", None).unwrap_err().to_string();
    for part in [
        "4 faults in sample.parv:",
        "sample.parv:5:4: `Points in precomputed seek curve = 5` is only modeled at 0: DiskSim interpolates",
        "sample.parv:6:23: expected `,` after this",
        "unknown parameter `Layout polcy`",
        "device.bit_nm = 0 nm is out of range",
    ] {
        assert!(message.contains(part), "{part} is not in {message}");
    }
}

#[test]
fn imported_generations_equal_disksim_presets() {
    let root = std::env::var_os("SLEDLAB_REFERENCE").map_or_else(
        || std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference"),
        std::path::PathBuf::from,
    );
    let Ok(text) = std::fs::read_to_string(root.join("mems/params/G1-G2-G3.specs")) else {
        eprintln!("skipped: no reference parameter files (set SLEDLAB_REFERENCE)");
        return;
    };
    for generation in ["g1", "g2", "g3"] {
        let imported = import(&text, "G1-G2-G3.specs", Some(&format!("mems.{generation}"))).unwrap();
        let preset = preset::text(&format!("mems-{generation}-disksim")).unwrap();
        let preset = preset::from_table(&toml::from_str(preset).unwrap()).unwrap().params;
        assert_eq!(*imported.params.clone_box(), *preset);
    }
    let v1 = import(&std::fs::read_to_string(root.join("mems/params/V1.specs")).unwrap(), "V1.specs", None)
        .unwrap();
    assert_eq!((v1.params.tips_per_block, v1.params.layout), (48, LayoutKind::Streaming));
}

proptest! {
    #[test]
    fn arbitrary_text_gives_device_or_user_error(
        text in "(memsmodel_mems|[a-z ]{0,5}|[{}=,#\\[\\]]|[0-9.]{1,4}|\\PC|\n){0,60}",
    ) {
        for name in [None, Some("a")] {
            if let Err(error) = import(&text, "any", name) {
                prop_assert_eq!(error.origin(), ErrorOrigin::User);
            }
        }
    }

    #[test]
    fn truncated_device_file_is_an_error(cut in 1..DEVICE.find("instantiate").unwrap()) {
        let end = DEVICE.find("} # end").unwrap();
        let result = import(&DEVICE[..cut], "cut.parv", None);
        prop_assert_eq!(result.is_ok(), cut > end);
        if let Ok(imported) = result {
            prop_assert_eq!(imported, sample());
        }
    }
}

#[test]
fn long_lines_and_deep_nesting_parse_fast() {
    let long_text = "memsmodel_mems a {".to_owned() + &" b".repeat(1_000_000);
    assert!(import(&long_text, "long", None).is_err());
    for opening in ["{", "[", "memsmodel_mems a {", "memsmodel_mems a { b = c {", "memsmodel_mems a { b = ["]
    {
        assert!(import(&opening.repeat(100_000), "deep", None).is_err());
    }
    let nested_text = "memsmodel_mems a {".to_owned() + &" b = c {".repeat(100_000);
    assert!(import(&nested_text, "deep", None).unwrap_err().to_string().contains("nest more than"));
}
