//! The MEMS sleds that come with sledlab.

/// Name and device file of every sled.
pub(super) const PRESETS: &[(&str, &str)] = &[
    ("mems-g1", include_str!("../../../presets/devices/mems-g1.toml")),
    ("mems-g2", include_str!("../../../presets/devices/mems-g2.toml")),
    ("mems-g3", include_str!("../../../presets/devices/mems-g3.toml")),
    ("mems-g2-3200", include_str!("../../../presets/devices/mems-g2-3200.toml")),
    ("mems-2000", include_str!("../../../presets/devices/mems-2000.toml")),
    ("millipede", include_str!("../../../presets/devices/millipede.toml")),
    ("mems-g1-disksim", include_str!("../../../presets/devices/mems-g1-disksim.toml")),
    ("mems-g2-disksim", include_str!("../../../presets/devices/mems-g2-disksim.toml")),
    ("mems-g3-disksim", include_str!("../../../presets/devices/mems-g3-disksim.toml")),
];
