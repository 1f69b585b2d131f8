//! Real-time priority: without it, other programs delay the server's thread when it should wake.

use std::num::NonZeroU64;

use serde::Serialize;
use sledlab_core::{Error, Result};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

/// Low among real-time priorities, so that no kernel thread waits for the server's thread.
const REALTIME_LEVEL: u8 = 10;

/// The priority of the server's thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// Real-time where the system allows it.
    #[default]
    Auto,
    /// The priority of any program.
    Normal,
    /// Real-time; an error where the system does not allow it.
    Realtime,
}

/// Gives the calling thread its priority, and turns off its timer slack so that sleep ends when it should. Returns
/// whether the priority is real-time.
///
/// # Errors
/// Real-time priority that is required but not allowed.
pub(crate) fn apply(priority: Priority) -> Result<bool> {
    // With the default slack, sleep ends up to 50 us late, so that the kernel can wake several threads at once. If the
    // slack cannot be set, the lateness of replies shows that.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    if priority == Priority::Normal {
        return Ok(false);
    }
    let level = ThreadPriority::Crossplatform(REALTIME_LEVEL.try_into().map_err(Error::internal)?);
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    match set_thread_priority_and_policy(thread_native_id(), level, fifo) {
        Ok(()) => Ok(true),
        Err(_) if priority == Priority::Auto => Ok(false),
        Err(error) => Err(Error::user(format!("cannot set real-time priority: {error}")).with_remedy(
            "run as root, allow it (`ulimit -r 10`, or `setcap cap_sys_nice+ep` on the Python that runs sledlab), \
             or set priority = \"auto\"",
        )),
    }
}
