//! Real-time priority: without it, other programs decide when the server is woken.

use std::num::NonZeroU64;

use serde::Serialize;
use sledlab_core::{Error, Result};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

/// Low among real-time priorities: nothing of the kernel's own is to wait for it.
const REALTIME: u8 = 10;

/// Which priority the server's thread has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// Real-time where that is allowed.
    #[default]
    Auto,
    /// As any program.
    Normal,
    /// Real-time, or not at all.
    Realtime,
}

/// Gives the calling thread its priority and lets its sleep end exactly when it should; says whether the priority is
/// real-time.
///
/// # Errors
/// Real-time priority that was insisted on but is not allowed.
pub(crate) fn take(priority: Priority) -> Result<bool> {
    // Sleep ends up to 50 us late otherwise, so that the kernel can wake several threads at once. What cannot be set
    // stays as it is, and lateness shows it.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    if priority == Priority::Normal {
        return Ok(false);
    }
    let level = ThreadPriority::Crossplatform(REALTIME.try_into().map_err(Error::internal)?);
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    match set_thread_priority_and_policy(thread_native_id(), level, fifo) {
        Ok(()) => Ok(true),
        Err(_) if priority == Priority::Auto => Ok(false),
        Err(error) => Err(Error::user(format!("real-time priority is refused: {error}")).with_remedy(
            "run as root, allow it (`ulimit -r 10`, or `setcap cap_sys_nice+ep` on the Python that runs sledlab), \
             or do without: priority = \"auto\"",
        )),
    }
}
