//! The thread that workers are children of, and the tie that ends them with it.
//!
//! Linux ends a process with its parent where that process asked for it, however the parent ended and
//! whether or not the process stands still. By the parent it means the thread that started it, not
//! that thread's process. So all workers are started by one thread that ends with this process and
//! never before; threads of the runtime come and go.
//!
//! Other systems have no such tie: there a worker whose host was killed ends when it next reads or
//! writes, or when its processor time is used up.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError, mpsc};

use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// A process to be started, for whose runtime, and who is told.
struct Order {
    command: Command,
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Child>>,
}

/// The way to the thread, once there is one.
static THREAD: Mutex<Option<mpsc::Sender<Order>>> = Mutex::new(None);

/// Starts a process as a child of the thread that lives as long as this process. The caller's thread
/// does not stand still meanwhile. Must be called inside a runtime.
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
    // The thread never ends while there is a sender, and the one there is stays in `THREAD`.
    sender.send(order).map_err(|_| io::Error::other("the thread that starts workers is gone"))
}

fn start_each(orders: &mpsc::Receiver<Order>) {
    for Order { mut command, runtime, reply } in orders {
        let _inside = runtime.enter();
        // The end of this thread would be the end of every worker. A runtime that is being taken down
        // may panic here; then nobody waits for the reply.
        let started = catch_unwind(AssertUnwindSafe(|| command.spawn()));
        let started = started.unwrap_or_else(|_| Err(io::Error::other("the runtime is gone")));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(reply.send(started))));
    }
}

/// Ties this process to the thread that started it: from now on the system ends it with that thread.
/// Does nothing where the system knows no such tie.
///
/// To be called before the first word to the host. A host that ended before the tie was made has said
/// nothing yet and held nothing still, and its end of the pipe is closed: the first word, or the wait
/// for the answer to it, is then the end.
///
/// # Errors
/// Where the system refuses.
#[cfg_attr(not(target_os = "linux"), expect(clippy::unnecessary_wraps, reason = "Linux may refuse"))]
pub(super) fn end_with_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    Ok(())
}
