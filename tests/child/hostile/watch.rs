//! Processor time and memory of this process, and the thread that tells a plan to stop.
//!
//! The wall limit of a plan is counted here in processor time of the process, so that a busy
//! machine changes nothing: all other threads of the child wait.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// How often the watcher looks.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// How long after its limit a plan is given up, in processor time.
pub(crate) const GIVE_UP_AFTER: Duration = Duration::from_secs(1);

/// Processor time this process has used.
pub(crate) fn cpu_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let micros = |time: TimeVal| {
        let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
        Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec()).unwrap_or(0))
    };
    micros(usage.user_time()) + micros(usage.system_time())
}

/// What is done at the end of a plan's time.
pub(crate) struct Watched {
    /// Processor time used so far; counted from any point.
    pub(crate) clock: Box<dyn Fn() -> Duration + Send>,
    /// Tells the plan to stop.
    pub(crate) tell: Box<dyn Fn() + Send>,
    /// Ends whatever did not stop `give_up_after` its limit.
    pub(crate) give_up: Box<dyn Fn() + Send>,
    /// The limit.
    pub(crate) limit: Duration,
    /// How long after it the plan is given up.
    pub(crate) give_up_after: Duration,
}

/// Tells a plan to stop at its limit, and gives it up where it does not.
pub(crate) struct Watch {
    used_micros: Arc<AtomicU64>,
    told_at_micros: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    wake: mpsc::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Watch {
    pub(crate) fn begin(watched: Watched) -> Self {
        let Watched { clock, tell, give_up, limit, give_up_after } = watched;
        let started = clock();
        let used_micros = Arc::new(AtomicU64::new(0));
        let (told_at_micros, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (wake, sleep) = mpsc::channel::<()>();
        let (used, told, over) = (used_micros.clone(), told_at_micros.clone(), is_over.clone());
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let thread = std::thread::spawn(move || {
            loop {
                // The flag is looked at first: the last sample is taken after the end.
                let is_last = over.load(Ordering::Acquire);
                let now = clock().saturating_sub(started);
                used.fetch_max(micros(now), Ordering::Relaxed);
                if is_last {
                    return;
                }
                if now >= limit && told.load(Ordering::Relaxed) == 0 {
                    tell();
                    told.store(micros(clock().saturating_sub(started)).max(1), Ordering::Relaxed);
                }
                if now >= limit + give_up_after {
                    give_up();
                }
                let _ = sleep.recv_timeout(LOOK_EVERY);
            }
        });
        Self { used_micros, told_at_micros, is_over, wake, thread }
    }

    /// The processor time used, and the part of it after the plan was told to stop.
    pub(crate) fn end(self) -> (Duration, Option<Duration>) {
        self.is_over.store(true, Ordering::Release);
        let _ = self.wake.send(());
        self.thread.join().unwrap();
        let used = Duration::from_micros(self.used_micros.load(Ordering::Relaxed));
        let told = self.told_at_micros.load(Ordering::Relaxed);
        (used, (told > 0).then(|| used.saturating_sub(Duration::from_micros(told))))
    }
}

/// A line of `/proc/self/status` in KiB; 0 on systems without it.
fn status_kib(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// KiB this process holds.
pub(crate) fn held_kib() -> u64 {
    status_kib("VmRSS")
}

/// The most KiB this process held since [`reset_peak`].
pub(crate) fn peak_kib() -> u64 {
    status_kib("VmHWM")
}

/// Starts the peak anew. Where that is not possible the peak stays that of the whole process.
pub(crate) fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
