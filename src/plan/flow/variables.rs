//! Which variable a name means, while a source is read from its top.
//!
//! The analysis does not follow the order of assignments. So a variable that its own block assigns again, which nothing
//! can skip or repeat, becomes a new variable from there on: what reads it later reads the last value alone.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::program::{AssignTarget, FunctionId, VarId};

#[derive(Default)]
pub(super) struct Variables {
    scope: Vec<(Rc<str>, VarId)>,
    block: OpenBlock,
    function: FunctionId,
    /// The function of each variable.
    owners: Vec<FunctionId>,
    /// Variables that inner functions use, of those read so far.
    captured: BTreeSet<VarId>,
}

/// The block whose statements are read.
#[derive(Clone, Copy, Default)]
pub(super) struct OpenBlock {
    /// Where its variables start in the scope: parameters and loop variables are its own.
    start: usize,
    /// A jump to a label can skip or repeat assignments.
    has_label: bool,
}

impl Variables {
    pub(super) fn declare(&mut self, name: &str) -> VarId {
        let variable = u32::try_from(self.owners.len()).unwrap_or(u32::MAX);
        self.owners.push(self.function);
        self.scope.push((name.into(), variable));
        variable
    }

    /// The local variable of this name, where there is one.
    pub(super) fn named(&mut self, name: &str) -> Option<VarId> {
        let variable = self.scope.iter().rev().find(|(known, _)| **known == *name).map(|known| known.1)?;
        if self.owners.get(variable as usize) != Some(&self.function) {
            self.captured.insert(variable);
        }
        Some(variable)
    }

    /// How many variables are in scope.
    pub(super) fn depth(&self) -> usize {
        self.scope.len()
    }

    pub(super) fn truncate(&mut self, depth: usize) {
        self.scope.truncate(depth);
    }

    /// Starts a block whose variables start at `start`; the block around it.
    pub(super) fn open_block(&mut self, start: usize, has_label: bool) -> OpenBlock {
        std::mem::replace(&mut self.block, OpenBlock { start, has_label })
    }

    pub(super) fn return_to(&mut self, outer: OpenBlock) {
        self.block = outer;
    }

    /// From here on declarations are of `function`; the one before.
    pub(super) fn enter_function(&mut self, function: FunctionId) -> FunctionId {
        std::mem::replace(&mut self.function, function)
    }

    /// New variables in place of those assigned, where nothing reads the old values any more.
    pub(super) fn replaced(&mut self, targets: &[AssignTarget]) -> Option<Vec<VarId>> {
        let names: Vec<Rc<str>> =
            targets.iter().map(|target| self.replaceable(target)).collect::<Option<_>>()?;
        let is_each_once = names.iter().collect::<BTreeSet<_>>().len() == names.len();
        is_each_once.then(|| names.iter().map(|name| self.declare(name)).collect())
    }

    /// The name of a variable of this block that no inner function has.
    fn replaceable(&self, target: &AssignTarget) -> Option<Rc<str>> {
        let AssignTarget::Var(variable) = target else { return None };
        let own = self.scope.get(self.block.start..)?.iter().find(|(_, known)| known == variable)?;
        (!self.block.has_label && !self.captured.contains(variable)).then(|| own.0.clone())
    }

    /// The function of each variable, by its number.
    pub(super) fn into_owners(self) -> Vec<FunctionId> {
        self.owners
    }
}
