//! The states of a run and the ways between them.
//!
//! ```text
//! created ──► planning ──► checking ──► running ◄──► waiting
//!    │           ▲  │          │  │        │            │
//!    │           └──┼──repair──┘  │        ├─► succeeded
//!    │              ▼             ▼        ├─► failed
//!    └─ saved plan ─────► checking         └─► cancelled   (from every state that is not an end)
//! ```
//!
//! Caps: repairs are bounded by the planner's rounds, calls and time by the run's limits, waits by
//! the plan's own `retry` bound. An end state has no way out.

use luaplan_base::{Error, ErrorCode, Result};

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunPhase {
    /// It has an id and nothing else.
    Created,
    /// A model writes or repairs the plan.
    Planning,
    /// The plan is checked.
    Checking,
    /// The VM runs, or its calls do.
    Running,
    /// The plan waits before it tries a step again; no call is under way.
    Waiting,
    /// `run` returned.
    Succeeded,
    /// An error, a limit or a refusal ended it.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

/// What moves a run from one phase to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhaseEvent {
    /// A task was given: a plan has to be found.
    TaskGiven,
    /// A plan is there, saved or proposed.
    PlanGiven,
    /// The check found errors that the model may repair.
    RepairWanted,
    /// The check passed.
    CheckPassed,
    /// The plan asked for a pause before a retry.
    WaitWanted,
    /// The pause is over.
    WaitOver,
    /// `run` returned.
    Returned,
    /// An error, a limit or a refusal.
    Broke,
    /// Somebody cancelled it.
    CancelAsked,
}

impl RunPhase {
    /// Every phase.
    pub const ALL: [Self; 8] = [
        Self::Created,
        Self::Planning,
        Self::Checking,
        Self::Running,
        Self::Waiting,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Whether nothing can follow.
    #[must_use]
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }

    /// The phase after `event`.
    ///
    /// # Errors
    /// `internal` where the event cannot happen in this phase.
    pub fn after(self, event: PhaseEvent) -> Result<Self> {
        use PhaseEvent as E;
        let next = match (self, event) {
            (phase, E::Broke) if !phase.is_end() => Self::Failed,
            (phase, E::CancelAsked) if !phase.is_end() => Self::Cancelled,
            (Self::Created, E::TaskGiven) | (Self::Checking, E::RepairWanted) => Self::Planning,
            (Self::Created | Self::Planning, E::PlanGiven) => Self::Checking,
            (Self::Checking, E::CheckPassed) | (Self::Waiting, E::WaitOver) => Self::Running,
            (Self::Running, E::WaitWanted) => Self::Waiting,
            (Self::Running, E::Returned) => Self::Succeeded,
            (phase, event) => {
                return Err(Error::new(
                    ErrorCode::Internal,
                    format!("a run that is {phase:?} cannot take {event:?}"),
                ));
            }
        };
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: [PhaseEvent; 9] = [
        PhaseEvent::TaskGiven,
        PhaseEvent::PlanGiven,
        PhaseEvent::RepairWanted,
        PhaseEvent::CheckPassed,
        PhaseEvent::WaitWanted,
        PhaseEvent::WaitOver,
        PhaseEvent::Returned,
        PhaseEvent::Broke,
        PhaseEvent::CancelAsked,
    ];

    #[test]
    fn exactly_the_drawn_ways_exist() {
        use {PhaseEvent as E, RunPhase as P};
        let drawn = [
            (P::Created, E::TaskGiven, P::Planning),
            (P::Created, E::PlanGiven, P::Checking),
            (P::Planning, E::PlanGiven, P::Checking),
            (P::Checking, E::RepairWanted, P::Planning),
            (P::Checking, E::CheckPassed, P::Running),
            (P::Running, E::WaitWanted, P::Waiting),
            (P::Waiting, E::WaitOver, P::Running),
            (P::Running, E::Returned, P::Succeeded),
        ];
        for from in P::ALL {
            for event in EVENTS {
                let expected = match event {
                    E::Broke if !from.is_end() => Some(P::Failed),
                    E::CancelAsked if !from.is_end() => Some(P::Cancelled),
                    _ => drawn.iter().find(|way| way.0 == from && way.1 == event).map(|way| way.2),
                };
                assert_eq!(from.after(event).ok(), expected, "{from:?} on {event:?}");
            }
        }
    }
}
