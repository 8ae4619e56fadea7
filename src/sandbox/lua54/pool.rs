//! VMs made ahead of their runs.
//!
//! Making and dropping a VM costs several times what a short plan does. A host that keeps a pool and
//! calls [`VmPool::refill`] between runs keeps both out of its plans' time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use luaplan_base::Result;

use super::host::lock;
use super::vm::{Spent, Vm};
use crate::{Interrupt, VmOptions};

/// VMs of one kind, each for one run. It has no thread of its own. Cheap to clone.
#[derive(Debug, Clone)]
pub struct VmPool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: VmOptions,
    ready: Mutex<Vec<Vm>>,
    spent: Arc<Spent>,
    keeps_ready: AtomicBool,
    /// Held by the one thread that makes VMs.
    refilling: Mutex<()>,
}

impl VmPool {
    /// A pool of up to `size` VMs made with `options`, each with its own interrupt ([`Vm::interrupt`]). It
    /// is empty until [`VmPool::refill`].
    #[must_use]
    pub fn new(options: VmOptions, size: usize) -> Self {
        Self(Arc::new(Inner {
            options,
            ready: Mutex::default(),
            spent: Arc::new(Spent { most: size, vms: Mutex::default() }),
            keeps_ready: AtomicBool::new(false),
            refilling: Mutex::default(),
        }))
    }

    /// A ready VM, or a fresh one where there is none.
    ///
    /// # Errors
    /// As [`Vm::new`].
    pub fn take(&self) -> Result<Vm> {
        let ready = lock(&self.0.ready).pop();
        ready.map_or_else(|| self.make(), Ok)
    }

    /// A ready VM, where there is one with equal `options`, apart from the interrupt.
    #[must_use]
    pub fn ready_for(&self, options: &VmOptions) -> Option<Vm> {
        let VmOptions { limits, tools, interrupt: _, slice_instructions } = &self.0.options;
        let fits = *limits == options.limits
            && *slice_instructions == options.slice_instructions
            && *tools == options.tools;
        if fits { lock(&self.0.ready).pop() } else { None }
    }

    /// How many VMs are ready.
    #[must_use]
    pub fn ready(&self) -> usize {
        lock(&self.0.ready).len()
    }

    /// From now on [`VmPool::wants_refill`] may ask for more.
    pub fn keep_ready(&self) {
        self.0.keeps_ready.store(true, Ordering::Relaxed);
    }

    /// Whether the host should call [`VmPool::refill`]: the pool is kept ready, half of it is gone, and
    /// no thread refills it.
    #[must_use]
    pub fn wants_refill(&self) -> bool {
        self.0.keeps_ready.load(Ordering::Relaxed)
            && self.ready() <= self.0.spent.most / 2
            && self.0.refilling.try_lock().is_ok()
    }

    /// Drops the VMs that ran, and makes new ones until the pool is full. Does nothing while another
    /// thread refills it.
    ///
    /// # Errors
    /// As [`Vm::new`].
    pub fn refill(&self) -> Result<()> {
        let Ok(_alone) = self.0.refilling.try_lock() else { return Ok(()) };
        let spent = std::mem::take(&mut *lock(&self.0.spent.vms));
        drop(spent);
        while self.ready() < self.0.spent.most {
            let vm = self.make()?;
            lock(&self.0.ready).push(vm);
        }
        Ok(())
    }

    fn make(&self) -> Result<Vm> {
        let options = VmOptions { interrupt: Interrupt::default(), ..self.0.options.clone() };
        Ok(Vm::new(options)?.spent_into(self.0.spent.clone()))
    }
}
