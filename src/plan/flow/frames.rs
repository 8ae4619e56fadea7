//! Frames: functions as called from one place, or from all.

use std::collections::HashMap;

use super::program::{FunctionId, VarId};
use super::solver::Solver;
use super::state::{Frame, FrameId, Node, ObjectId, ObjectKind, RuleId};

/// Beyond so many rules no function gets a frame for a single call.
const CLONED_RULES_MAX: usize = 20_000;
/// Depth of nested calls that get frames of their own.
const CLONED_DEPTH_MAX: u32 = 5;

impl Solver<'_> {
    /// The frame for a call of `closure` by the rule `by`.
    pub(super) fn frame_for(&mut self, closure: ObjectId, by: RuleId, caller: FrameId) -> Option<FrameId> {
        let ObjectKind::Closure(function, outer) = self.kind(closure) else { return None };
        if let Some(frame) = self.frame_ids.get(&(closure, Some(by))) {
            return Some(*frame);
        }
        let depth = self.frames[caller as usize].depth + 1;
        let mut recursive = false;
        let mut at = Some(caller);
        while let Some(frame) = at {
            recursive |= self.frames[frame as usize].function == function;
            at = self.frames[frame as usize].caller;
        }
        let cloned = depth <= CLONED_DEPTH_MAX && !recursive && self.rules.len() < CLONED_RULES_MAX;
        let key = (closure, cloned.then_some(by));
        if let Some(frame) = self.frame_ids.get(&key) {
            return Some(*frame);
        }
        let depth = if cloned { depth } else { CLONED_DEPTH_MAX };
        let frame = self.frame(function, Some(outer), cloned.then_some(caller), depth);
        self.frame_ids.insert(key, frame);
        self.build(frame);
        Some(frame)
    }

    pub(super) fn frame(
        &mut self,
        function: FunctionId,
        outer: Option<FrameId>,
        caller: Option<FrameId>,
        depth: u32,
    ) -> FrameId {
        let frame = Frame {
            function,
            outer,
            caller,
            depth,
            variables: HashMap::new(),
            varargs: self.node(),
            control: self.node(),
            stop_in: self.node(),
            stop_out: self.node(),
            stop_before: self.node(),
            guarded: self.node(),
            guarded_twice: self.node(),
            beside: self.node(),
            results: [self.node(), self.node(), self.node(), self.node()],
            more_results: self.node(),
        };
        self.frames.push(frame);
        u32::try_from(self.frames.len() - 1).unwrap_or(u32::MAX)
    }

    /// The cell of a variable seen from `frame`.
    pub(super) fn variable(&mut self, frame: FrameId, variable: VarId) -> Node {
        let owner = self.program.owners.get(variable as usize).copied().unwrap_or(0);
        let mut at = frame;
        while self.frames[at as usize].function != owner {
            match self.frames[at as usize].outer {
                Some(outer) => at = outer,
                None => break,
            }
        }
        if let Some(node) = self.frames[at as usize].variables.get(&variable) {
            return *node;
        }
        let node = self.node();
        self.frames[at as usize].variables.insert(variable, node);
        node
    }

    pub(super) fn is_guarded(&mut self, frame: FrameId) -> bool {
        let node = self.frames[frame as usize].guarded;
        self.read(node).unknown != 0
    }

    /// Whether an error before the protected call it is in does not end the run either.
    pub(super) fn is_guarded_twice(&mut self, frame: FrameId) -> bool {
        let node = self.frames[frame as usize].guarded_twice;
        self.read(node).unknown != 0
    }

    pub(super) fn is_beside(&mut self, frame: FrameId) -> bool {
        let node = self.frames[frame as usize].beside;
        self.read(node).unknown != 0
    }
}
