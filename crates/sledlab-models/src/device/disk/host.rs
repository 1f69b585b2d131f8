//! A drive behind a host.

use super::DiskParams;
use crate::device::host::HostParams;

/// Attaches a drive to `host`.
pub fn attach(drive: &mut DiskParams, host: &HostParams) {
    let disk = &mut drive.flat;
    disk.bus_sector_us = host.bus_sector_us;
    disk.bus_write_sector_us = host.bus_write_sector_us;
    let additions = [
        (host.read_hit_us, &mut disk.read_hit_after_read_us),
        (host.read_hit_us, &mut disk.read_hit_after_write_us),
        (host.read_miss_us, &mut disk.read_miss_after_read_us),
        (host.read_miss_us, &mut disk.read_miss_after_write_us),
        (host.write_us, &mut disk.write_buffered_after_read_us),
        (host.write_us, &mut disk.write_buffered_after_write_us),
        (host.write_us, &mut disk.write_through_after_read_us),
        (host.write_us, &mut disk.write_through_after_write_us),
        (host.write_us, &mut disk.extra_disconnect_command_us),
    ];
    for (more_us, overhead_us) in additions {
        *overhead_us = (*overhead_us + more_us).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::params::Params;

    use super::*;
    use crate::device::{host, preset};

    #[test]
    fn host_slows_down_drive() {
        for name in host::names() {
            let host = host::preset(&name).unwrap();
            let drive_name = name.trim_end_matches("-disksim");
            let file = preset::from_table(&preset::text(drive_name).unwrap().parse().unwrap()).unwrap();
            let mut drive = DiskParams::from_table("device", &file.params.to_table()).unwrap();
            assert!(host.bus_sector_us > drive.flat.bus_sector_us, "{name}");
            assert!(host.bus_write_sector_us > drive.flat.bus_write_sector_us, "{name}");
            attach(&mut drive, &host);
            assert!((drive.flat.bus_sector_us - host.bus_sector_us).abs() < f64::EPSILON);
        }
        assert!(host::preset("atlas-10").unwrap_err().to_string().contains("did you mean `atlas-10k`?"));
    }
}
