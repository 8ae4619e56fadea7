//! VMs made ahead of their runs.
//!
//! Making a VM and taking one apart cost several times what a short plan does. A host that keeps a
//! pool and calls [`VmPool::refill`] between runs takes both off the way of its plans.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::vm::Vm;
use crate::base::Result;
use crate::sandbox::{Interrupt, VmOptions};

/// How many ended VMs wait to be taken apart, and how large one may be to wait.
const SPENT_MAX: usize = 64;
const SPENT_BYTES_MAX: usize = 4 << 20;

/// VMs that ran and are to be taken apart.
pub(super) type Spent = Arc<Mutex<Vec<Vm>>>;

/// VMs of one kind, each for one run. It has no thread of its own.
#[derive(Debug)]
pub struct VmPool {
    options: VmOptions,
    size: usize,
    ready: Mutex<Vec<Vm>>,
    spent: Spent,
}

impl VmPool {
    /// A pool of up to `size` VMs made with `options`, of which each VM has its own interrupt
    /// ([`Vm::interrupt`]). It is empty until [`VmPool::refill`].
    #[must_use]
    pub fn new(options: VmOptions, size: usize) -> Self {
        Self { options, size, ready: Mutex::default(), spent: Spent::default() }
    }

    /// A VM made before, or a fresh one where there is none.
    ///
    /// # Errors
    /// As [`Vm::new`].
    pub fn take(&self) -> Result<Vm> {
        let ready = lock(&self.ready).pop();
        ready.map_or_else(|| self.make(), Ok)
    }

    /// Takes apart the VMs that ran, and makes new ones until the pool is full.
    ///
    /// # Errors
    /// As [`Vm::new`].
    pub fn refill(&self) -> Result<()> {
        let spent = std::mem::take(&mut *lock(&self.spent));
        drop(spent);
        while lock(&self.ready).len() < self.size {
            let vm = self.make()?;
            lock(&self.ready).push(vm);
        }
        Ok(())
    }

    fn make(&self) -> Result<Vm> {
        let options = VmOptions { interrupt: Interrupt::default(), ..self.options.clone() };
        Ok(Vm::new(options)?.spent_into(self.spent.clone()))
    }
}

/// Leaves a VM that ran to be taken apart later, or takes it apart where too much waits.
pub(super) fn leave(vm: Vm, spent: &Spent) {
    let mut waiting = lock(spent);
    if waiting.len() < SPENT_MAX && vm.used_bytes() <= SPENT_BYTES_MAX {
        waiting.push(vm);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
