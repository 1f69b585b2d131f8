//! Closed forms of a flash device.
