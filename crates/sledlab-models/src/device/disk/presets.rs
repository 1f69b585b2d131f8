//! The disks that come with sledlab.

/// Name and device file of every disk.
pub(super) const PRESETS: &[(&str, &str)] = &[
    ("mobile-disk", include_str!("../../../presets/devices/mobile-disk.toml")),
    ("atlas-10k", include_str!("../../../presets/devices/atlas-10k.toml")),
    ("atlas-10k-50mb", include_str!("../../../presets/devices/atlas-10k-50mb.toml")),
    ("atlas-10k-double-density", include_str!("../../../presets/devices/atlas-10k-double-density.toml")),
    ("atlas-iii", include_str!("../../../presets/devices/atlas-iii.toml")),
    ("barracuda", include_str!("../../../presets/devices/barracuda.toml")),
    ("cheetah-4lp", include_str!("../../../presets/devices/cheetah-4lp.toml")),
    ("cheetah-9lp", include_str!("../../../presets/devices/cheetah-9lp.toml")),
    ("ibm-18es", include_str!("../../../presets/devices/ibm-18es.toml")),
    ("hp-c2247a", include_str!("../../../presets/devices/hp-c2247a.toml")),
    ("hp-c2490a", include_str!("../../../presets/devices/hp-c2490a.toml")),
    ("hp-c3323a", include_str!("../../../presets/devices/hp-c3323a.toml")),
    ("dec-rz26", include_str!("../../../presets/devices/dec-rz26.toml")),
    ("seagate-st41601n", include_str!("../../../presets/devices/seagate-st41601n.toml")),
    ("hdd-20tb", include_str!("../../../presets/devices/hdd-20tb.toml")),
    ("hdd-2x18tb-actuator", include_str!("../../../presets/devices/hdd-2x18tb-actuator.toml")),
    ("super-disk", include_str!("../../../presets/devices/super-disk.toml")),
];
