//! Volumes: traces of one device each.

use sledlab_core::{Error, Request, Result};

use super::{Next, TransformStep};

/// Makes the one device of a volume device 0, and refuses requests to a second device, which has other addresses.
#[derive(Clone, Debug)]
pub struct SingleDevice {
    volume: String,
    device: Option<u16>,
}

impl SingleDevice {
    /// For the volume called `volume` in messages.
    pub fn new(volume: &str) -> Self {
        SingleDevice { volume: volume.to_owned(), device: None }
    }

    #[cold]
    fn error(&self) -> Error {
        Error::user(format!("the trace of the volume `{}` holds several volumes", self.volume))
            .with_remedy("split it first with `sledlab fleet split`")
    }
}

impl TransformStep for SingleDevice {
    #[inline]
    fn take(&mut self, request: Request) -> Result<Next> {
        if *self.device.get_or_insert(request.device) != request.device {
            return Err(self.error());
        }
        Ok(Next::Pass(Request { device: 0, ..request }))
    }
}

#[cfg(test)]
mod tests {
    use sledlab_core::source::MemorySource;
    use sledlab_core::{Source, Time};

    use super::*;
    use crate::transform::TransformedSource;

    fn devices(numbers: &[u16]) -> Result<Vec<u16>> {
        let request = |(ns, device): (usize, &u16)| Request {
            arrival: Time::from_ns(ns as u64),
            blocks: 8,
            device: *device,
            ..Request::default()
        };
        let trace = MemorySource::new(numbers.iter().enumerate().map(request).collect::<Vec<_>>());
        let mut source = TransformedSource::new(trace, SingleDevice::new("mail"));
        let mut requests = Vec::new();
        while source.fill(&mut requests)? > 0 {}
        Ok(requests.iter().map(|request| request.device).collect())
    }

    #[test]
    fn only_device_becomes_device_zero() {
        assert_eq!(devices(&[7, 7]).unwrap(), [0, 0]);
    }

    #[test]
    fn second_device_is_refused() {
        let error = devices(&[7, 7, 0]).unwrap_err().to_string();
        assert!(error.contains("`mail` holds several volumes"), "{error}");
    }
}
