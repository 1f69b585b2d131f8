//! Names of devices in formats that name them.

use super::output::Output;

/// How a format names devices.
#[derive(Clone, Copy, Debug)]
pub(super) enum DeviceName {
    /// The name of a file: `device-3`.
    File,
    /// Name of a host and number of a disk: `sledlab,3`.
    HostAndDisk,
    /// A number: `3`.
    Number,
}

/// Appends the name of a device to a line.
pub(super) fn append_device_name(output: &mut Output, device: u16, form: DeviceName) {
    let prefix: &[u8] = match form {
        DeviceName::File => b"device-",
        DeviceName::HostAndDisk => b"sledlab,",
        DeviceName::Number => b"",
    };
    output.text().extend_from_slice(prefix);
    output.number(u64::from(device));
}
