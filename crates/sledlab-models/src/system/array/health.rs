//! Which devices of an array have failed, and how much of each its spare holds.
//!
//! A spare holds the first stripes of the device it stands for, and more and more of them. So the devices that a stripe
//! misses are those whose spares have not come that far, and stripes that miss too many are the last ones.

/// The state of the devices of a redundant layout.
#[derive(Clone, Debug)]
pub(super) struct Health {
    stripes: u64,
    /// Devices a stripe may miss.
    tolerates: usize,
    /// Of every device that has failed: stripes, from the first on, that its spare holds.
    failed: Vec<(usize, u64)>,
    /// Stripes before this one have lost nothing for good.
    whole: u64,
    /// Whether devices fail at all: nothing of a stripe is then written before all is read that the write needs.
    pub fails: bool,
}

impl Health {
    /// Devices that work, and hold `stripes`, each of which may miss as many of them as it `tolerates`.
    pub fn new(stripes: u64, tolerates: usize, fails: bool) -> Self {
        Health { stripes, tolerates, failed: Vec::new(), whole: stripes, fails }
    }

    /// Whether a stripe has nothing on a device.
    pub fn misses(&self, stripe: u64, device: usize) -> bool {
        self.failed.iter().any(|(failed, rebuilt)| *failed == device && stripe >= *rebuilt)
    }

    /// Whether a stripe misses more devices than it can.
    pub fn is_lost(&self, stripe: u64) -> bool {
        stripe >= self.whole
    }

    /// Stripes that a spare holds, or all where the device has not failed.
    pub fn held(&self, device: usize) -> u64 {
        self.failed.iter().find(|(failed, _)| *failed == device).map_or(self.stripes, |(_, rebuilt)| *rebuilt)
    }

    /// The stripe that is rebuilt next, if one is left: that of the first device that failed.
    pub fn next(&self) -> Option<(usize, u64)> {
        self.failed.iter().find(|(_, rebuilt)| *rebuilt < self.whole).copied()
    }

    /// A device fails while the next stripe of another, `written`, is on its way to the spare.
    pub fn fail(&mut self, device: usize, written: Option<usize>) {
        self.failed.push((device, 0));
        let held = |(failed, rebuilt): &(usize, u64)| rebuilt + u64::from(Some(*failed) == written);
        let mut held: Vec<u64> = self.failed.iter().map(held).collect();
        held.sort_unstable();
        self.whole = held.get(self.tolerates).map_or(self.whole, |held| self.whole.min(*held));
    }

    /// The next stripe of a device is on its spare.
    pub fn rebuilt(&mut self, device: usize) {
        if let Some((_, rebuilt)) = self.failed.iter_mut().find(|(failed, _)| *failed == device) {
            *rebuilt += 1;
        }
    }

    /// Whether a device has failed and its spare holds all of it.
    pub fn is_rebuilt(&self, device: usize) -> bool {
        self.failed.contains(&(device, self.stripes))
    }

    /// Stripes that are lost for good.
    pub fn lost(&self) -> std::ops::Range<u64> {
        self.whole..self.stripes
    }
}
