//! The calls that a plan waits for, and their answers.

use std::collections::VecDeque;
use std::sync::Arc;

use luaplan_base::{CallArguments, CallId, CallOutcome, CallRequest, Value};

use super::host_memory::HeldBytes;

/// A tool function's claim on its answer while its coroutine is suspended.
pub(crate) type Ticket = i64;

/// The call a value comes from; strict error values name it.
pub(crate) struct CallOrigin {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) line: Option<u32>,
}

struct RequestedCall {
    ticket: Ticket,
    tool: String,
    arguments: Vec<Value>,
    line: Option<u32>,
}

struct CallAnswer {
    ticket: Ticket,
    origin: CallOrigin,
    outcome: CallOutcome,
}

/// Calls requested since the last pause, and answers not yet taken.
#[derive(Default)]
pub(crate) struct Calls {
    sequence: u64,
    last_ticket: Ticket,
    wanted: Vec<RequestedCall>,
    out: Vec<(Ticket, CallOrigin)>,
    /// By ticket, the lowest first: the plan mostly takes them in the order of its requests.
    answers: VecDeque<CallAnswer>,
    held: Arc<HeldBytes>,
}

impl Calls {
    pub(crate) fn want(&mut self, tool: String, arguments: Vec<Value>, line: Option<u32>) -> Ticket {
        self.held.ask();
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        self.wanted.push(RequestedCall { ticket, tool, arguments, line });
        ticket
    }

    /// The count of bytes that arguments hold until their calls are answered.
    pub(crate) fn held(&self) -> Arc<HeldBytes> {
        self.held.clone()
    }

    /// Numbers later calls after `steps` earlier ones.
    pub(crate) fn number_after(&mut self, steps: u64) {
        self.sequence = steps;
    }

    /// Returns the requested calls, in the order of the requests. Each pause is one step of the sequence;
    /// the calls of a batch add their place in it.
    pub(crate) fn hand_out(&mut self, is_batch: bool) -> Vec<CallRequest> {
        self.sequence += 1;
        let mut requests = Vec::with_capacity(self.wanted.len());
        for (place, wanted) in self.wanted.drain(..).enumerate() {
            let id = if is_batch {
                CallId::branch(self.sequence, place + 1)
            } else {
                CallId::single(self.sequence)
            };
            let RequestedCall { ticket, tool, arguments, line } = wanted;
            self.out.push((ticket, CallOrigin { id: id.to_string(), tool: tool.clone(), line }));
            requests.push(CallRequest { id, tool, arguments: CallArguments(arguments), line });
        }
        requests
    }

    /// Takes the answers, in the order of the calls. False where their number differs.
    pub(crate) fn answer(&mut self, outcomes: Vec<CallOutcome>) -> bool {
        if outcomes.len() != self.out.len() {
            return false;
        }
        for ((ticket, origin), outcome) in self.out.drain(..).zip(outcomes) {
            self.answers.push_back(CallAnswer { ticket, origin, outcome });
        }
        // A paused VM requests nothing more, so these answers complete all requests.
        self.held.release();
        true
    }

    /// The answer for a ticket, which stays to be taken.
    pub(crate) fn peek(&self, ticket: Ticket) -> Option<&CallOutcome> {
        self.answers.get(self.place(ticket)?).map(|answer| &answer.outcome)
    }

    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<(CallOrigin, CallOutcome)> {
        let CallAnswer { origin, outcome, .. } = self.answers.remove(self.place(ticket)?)?;
        Some((origin, outcome))
    }

    /// Tickets grow, and each pause follows the answers to the one before, so they are in order.
    fn place(&self, ticket: Ticket) -> Option<usize> {
        self.answers.binary_search_by_key(&ticket, |answer| answer.ticket).ok()
    }
}
