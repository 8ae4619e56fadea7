//! The calls a plan waits for, and their answers.

use std::collections::VecDeque;
use std::sync::Arc;

use luaplan_base::{CallArguments, CallId, CallOutcome, CallRequest, Value};

use super::host_memory::Held;

/// What a tool function holds while its coroutine sleeps.
pub(super) type Ticket = i64;

/// The call a value comes from; strict error values name it.
pub(super) struct CallOrigin {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) line: Option<u32>,
}

struct Wanted {
    ticket: Ticket,
    tool: String,
    arguments: Vec<Value>,
    line: Option<u32>,
}

struct Answer {
    ticket: Ticket,
    origin: CallOrigin,
    outcome: CallOutcome,
}

/// Calls asked for since the last pause, and answers not yet picked up.
#[derive(Default)]
pub(super) struct Calls {
    sequence: u64,
    last_ticket: Ticket,
    wanted: Vec<Wanted>,
    out: Vec<(Ticket, CallOrigin)>,
    /// By ticket, the lowest first: they are mostly taken in the order they were asked for.
    answers: VecDeque<Answer>,
    held: Arc<Held>,
}

impl Calls {
    pub(super) fn want(&mut self, tool: String, arguments: Vec<Value>, line: Option<u32>) -> Ticket {
        self.held.ask();
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        self.wanted.push(Wanted { ticket, tool, arguments, line });
        ticket
    }

    /// The count of what arguments take up until their calls are answered.
    pub(super) fn held(&self) -> Arc<Held> {
        self.held.clone()
    }

    /// Numbers what comes after `steps` earlier ones.
    pub(super) fn number_after(&mut self, steps: u64) {
        self.sequence = steps;
    }

    /// Hands out what is wanted, in the order asked. Each pause is one step of the sequence; the
    /// calls of a batch add their place in it.
    pub(super) fn hand_out(&mut self, is_batch: bool) -> Vec<CallRequest> {
        self.sequence += 1;
        let mut requests = Vec::with_capacity(self.wanted.len());
        for (place, wanted) in self.wanted.drain(..).enumerate() {
            let id = if is_batch {
                CallId::branch(self.sequence, place + 1)
            } else {
                CallId::single(self.sequence)
            };
            let Wanted { ticket, tool, arguments, line } = wanted;
            self.out.push((ticket, CallOrigin { id: id.to_string(), tool: tool.clone(), line }));
            requests.push(CallRequest { id, tool, arguments: CallArguments(arguments), line });
        }
        requests
    }

    /// Takes the answers, in the order of the calls. False where their number differs.
    pub(super) fn answer(&mut self, outcomes: Vec<CallOutcome>) -> bool {
        if outcomes.len() != self.out.len() {
            return false;
        }
        for ((ticket, origin), outcome) in self.out.drain(..).zip(outcomes) {
            self.answers.push_back(Answer { ticket, origin, outcome });
        }
        // A paused VM asks for nothing: what was answered is all that was asked.
        self.held.release();
        true
    }

    /// The answer for a ticket, which stays to be taken.
    pub(super) fn peek(&self, ticket: Ticket) -> Option<&CallOutcome> {
        self.answers.get(self.place(ticket)?).map(|answer| &answer.outcome)
    }

    pub(super) fn take(&mut self, ticket: Ticket) -> Option<(CallOrigin, CallOutcome)> {
        let Answer { origin, outcome, .. } = self.answers.remove(self.place(ticket)?)?;
        Some((origin, outcome))
    }

    /// Tickets grow, and a pause comes after the answers to the one before, so they lie in order.
    fn place(&self, ticket: Ticket) -> Option<usize> {
        self.answers.binary_search_by_key(&ticket, |answer| answer.ticket).ok()
    }
}
