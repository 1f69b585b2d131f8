//! Failed devices of an array, and the rebuilt part of their spares.
//!
//! A spare is filled from the first stripe of the device that it replaces. So a stripe misses the failed devices whose
//! spares have not reached it, and the stripes that miss too many devices are the last ones.

/// The state of the devices of a redundant layout.
#[derive(Clone, Debug)]
pub(super) struct Health {
    stripes: u64,
    /// Number of devices that a stripe may miss without loss of data.
    max_missing: usize,
    /// Every device that has failed, with the number of stripes, from the first on, that its spare holds.
    failed: Vec<(usize, u64)>,
    /// Stripes before this one have lost no data.
    first_lost: u64,
    /// Whether devices fail at all: then no block of a stripe is written before all blocks are read that the write
    /// needs.
    pub fails: bool,
}

impl Health {
    /// Working devices of `stripes` stripes, each of which may miss up to `max_missing` devices.
    pub fn new(stripes: u64, max_missing: usize, fails: bool) -> Self {
        Health { stripes, max_missing, failed: Vec::new(), first_lost: stripes, fails }
    }

    /// Whether a stripe misses a device: one that has failed, and whose spare, if any, does not hold the stripe yet.
    pub fn misses(&self, stripe: u64, device: usize) -> bool {
        self.failed.iter().any(|(failed, rebuilt)| *failed == device && stripe >= *rebuilt)
    }

    /// Whether a stripe has lost data: it missed more devices than it tolerates.
    pub fn is_lost(&self, stripe: u64) -> bool {
        stripe >= self.first_lost
    }

    /// The first stripe after `stripe` at which other devices are missing or data starts to be lost; `u64::MAX` if
    /// there is none.
    pub fn next_change(&self, stripe: u64) -> u64 {
        let changes = self.failed.iter().map(|(_, rebuilt)| *rebuilt).chain([self.first_lost]);
        changes.filter(|change| *change > stripe).min().unwrap_or(u64::MAX)
    }

    /// Returns the number of stripes on the spare of a device, or of all stripes where the device has not failed.
    pub fn stripe_count(&self, device: usize) -> u64 {
        self.failed.iter().find(|(failed, _)| *failed == device).map_or(self.stripes, |(_, rebuilt)| *rebuilt)
    }

    /// The device and the stripe to rebuild next, if one is left: of the first failed device whose spare lacks stripes
    /// that have lost no data.
    pub fn next(&self) -> Option<(usize, u64)> {
        self.failed.iter().find(|(_, rebuilt)| *rebuilt < self.first_lost).copied()
    }

    /// A device fails, while the next stripe of the device `written_device`, if any, is being written to its spare.
    pub fn fail(&mut self, device: usize, written_device: Option<usize>) {
        self.failed.push((device, 0));
        let rebuilt_stripes =
            |(failed, rebuilt): &(usize, u64)| rebuilt + u64::from(Some(*failed) == written_device);
        let mut rebuilt_stripes: Vec<u64> = self.failed.iter().map(rebuilt_stripes).collect();
        rebuilt_stripes.sort_unstable();
        self.first_lost = rebuilt_stripes
            .get(self.max_missing)
            .map_or(self.first_lost, |rebuilt_stripes| self.first_lost.min(*rebuilt_stripes));
    }

    /// The next stripe of a device has been written to its spare.
    pub fn record_rebuilt_stripe(&mut self, device: usize) {
        if let Some((_, rebuilt)) = self.failed.iter_mut().find(|(failed, _)| *failed == device) {
            *rebuilt += 1;
        }
    }

    /// Whether a device has failed and its spare holds all stripes.
    pub fn is_rebuilt(&self, device: usize) -> bool {
        self.failed.contains(&(device, self.stripes))
    }

    /// The stripes that have lost data.
    pub fn lost_stripes(&self) -> std::ops::Range<u64> {
        self.first_lost..self.stripes
    }
}
