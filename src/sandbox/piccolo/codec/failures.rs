//! Strict error values, which the prelude makes one by one.

use std::collections::VecDeque;

use gc_arena::Collect;
use piccolo::{
    BoxSequence, CallbackReturn, Context, Execution, Function, Sequence, SequencePoll, Stack, Table,
};

use super::write::{ToMake, Written};
use crate::piccolo::fault::Raised;
use crate::piccolo::store::store_ours;
use crate::piccolo::values::give;

impl<'gc> Written<'gc> {
    /// Gives the value as the only result, once `create` has made the failures in it.
    pub(in crate::piccolo) fn finish(
        mut self,
        ctx: Context<'gc>,
        create: Function<'gc>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<CallbackReturn<'gc>, Raised<'gc>> {
        let Some(first) = self.failures.pop_front() else {
            return give(stack, self.holder.get(ctx, 1));
        };
        stack.clear();
        stack.extend(first.arguments.iter().copied());
        let then = Making { create, holder: self.holder, now: first, left: self.failures };
        Ok(CallbackReturn::Call { function: create, then: Some(BoxSequence::new(&ctx, then)) })
    }
}

#[derive(Collect)]
#[collect(no_drop)]
struct Making<'gc> {
    create: Function<'gc>,
    holder: Table<'gc>,
    now: ToMake<'gc>,
    left: VecDeque<ToMake<'gc>>,
}

impl<'gc> Sequence<'gc> for Making<'gc> {
    fn poll(
        &mut self,
        ctx: Context<'gc>,
        _: Execution<'gc, '_>,
        mut stack: Stack<'gc, '_>,
    ) -> Result<SequencePoll<'gc>, Raised<'gc>> {
        store_ours(ctx, self.now.table, self.now.key, stack.get(0))?;
        stack.clear();
        let Some(next) = self.left.pop_front() else {
            stack.push_back(self.holder.get(ctx, 1));
            return Ok(SequencePoll::Return);
        };
        self.now = next;
        stack.extend(self.now.arguments.iter().copied());
        Ok(SequencePoll::Call { function: self.create, is_tail: false })
    }
}
