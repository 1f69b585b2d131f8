//! Seek-time maps: positioning times from one position to all others.

use sledlab_core::{Error, Result};
use sledlab_models::device::preset::DeviceFile;
use sledlab_models::device::{DeviceState, SeekMap, format_kinds};

/// Returns the map of positioning times from `from`.
///
/// # Errors
/// A start outside the range of the mechanism, or a kind of device without maps; and an error of `watch`, which is
/// called before every step.
pub fn seek_map(
    device: &DeviceFile,
    from: DeviceState,
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<SeekMap> {
    device.params.seek_map(from, watch)?.ok_or_else(|| {
        let (kind, others) = (device.params.kind(), format_kinds(|facts| facts.has_seek_map));
        Error::user(format!("there is no seek map of a device of kind `{kind}`"))
            .with_remedy(format!("choose one with {others}: `sledlab list device` shows all devices"))
    })
}
