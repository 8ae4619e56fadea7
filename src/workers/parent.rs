//! The thread that is the parent of all workers, and the tie that ends them with it.
//!
//! Linux ends a process with its parent where that process asked for it, however the parent ended, and
//! even a stopped process. Its parent is the thread that started it, not that thread's process. So one
//! thread that lives as long as this process starts all workers; threads of the runtime come and go.
//!
//! Other systems have no such tie: there a worker whose host was killed ends when it next reads or
//! writes, or when its processor time is used up.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError, mpsc};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// A process to start, its runtime, and the receiver of the result.
struct Order {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

/// The channel to the thread, once it runs.
static THREAD: Mutex<Option<mpsc::Sender<Order>>> = Mutex::new(None);

/// Starts a process as a child of the thread that lives as long as this process, without blocking the
/// caller's thread. Must be called inside a runtime.
///
/// # Errors
/// Where the system starts neither the thread nor the process.
pub(super) async fn spawn(command: Command) -> io::Result<Child> {
    let (reply, replied) = oneshot::channel();
    give(Order { command, runtime: Handle::current(), reply })?;
    replied.await.unwrap_or_else(|_| Err(io::Error::other("the thread that starts workers broke off")))
}

fn give(order: Order) -> io::Result<()> {
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    let sender = match &*thread {
        Some(sender) => sender,
        None => {
            let (sender, orders) = mpsc::channel();
            let name = "start-workers".to_owned();
            std::thread::Builder::new().name(name).spawn(move || start_each(&orders))?;
            thread.insert(sender)
        }
    };
    // The thread ends only without senders, and `THREAD` keeps one.
    sender.send(order).map_err(|_| io::Error::other("the thread that starts workers is gone"))
}

fn start_each(orders: &mpsc::Receiver<Order>) {
    for Order { mut command, runtime, reply } in orders {
        let _inside = runtime.enter();
        // The end of this thread would end every worker. A runtime that shuts down may panic here; then no
        // caller waits for the reply.
        let started = catch_unwind(AssertUnwindSafe(|| command.spawn()));
        let started = started.unwrap_or_else(|_| Err(io::Error::other("the runtime is gone")));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(reply.send(started))));
    }
}

/// Ties this process to the thread that started it: from now on the system ends it with that thread.
/// Does nothing where the system knows no such tie.
///
/// To be called before the first message to the host. A host that ended earlier has closed its end of the
/// pipe: the worker then ends at its first message, or while it waits for the answer.
///
/// # Errors
/// Where the system refuses.
#[cfg_attr(not(target_os = "linux"), expect(clippy::unnecessary_wraps, reason = "Linux may refuse"))]
pub(super) fn end_with_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    Ok(())
}
