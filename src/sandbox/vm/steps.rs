//! What a plan reports of its named steps, until the host takes it at the next pause.

use luaplan_base::{Error, ErrorCode, STEP_MESSAGE_BYTES_MAX, STEPS_MAX, StepReport, StepState};

use super::meter::{Dead, Meter};

/// The price of a report besides the instructions that make it.
const REPORT_INSTRUCTIONS: u64 = 200;

/// The steps of a plan so far.
#[derive(Default)]
pub(crate) struct Steps {
    declared: u64,
    reports: Vec<StepReport>,
}

impl Steps {
    /// Keeps a report, which the host takes at the next pause.
    ///
    /// # Errors
    /// The run is over: it is one step too many, or the price of the report is.
    pub(crate) fn add(&mut self, report: StepReport, meter: &Meter) -> Result<(), Dead> {
        if matches!(report.state, StepState::Running | StepState::Skipped) {
            self.declared += 1;
            if self.declared > STEPS_MAX {
                let message = format!("the plan has more than {STEPS_MAX} steps");
                return Err(meter
                    .kill(Error::new(ErrorCode::LimitSteps, message).with_limit(STEPS_MAX, self.declared)));
            }
        }
        self.reports.push(report);
        meter.charge(REPORT_INSTRUCTIONS)
    }

    /// The reports since the last call.
    pub(crate) fn take(&mut self) -> Vec<StepReport> {
        std::mem::take(&mut self.reports)
    }
}

/// One argument of the prelude's `report`.
pub(crate) enum Said {
    Text(String),
    Number(i64),
    Nothing,
}

/// Reads `report(state, name, line, attempts, attempts_max, code, message, depends_on…)` of `lua/prelude/steps.lua`.
/// A step that failed without a code has that of its message, as `code_of` knows it.
pub(crate) fn read(
    said: impl Iterator<Item = Said>,
    printed_bytes: usize,
    code_of: impl Fn(&str) -> Option<ErrorCode>,
) -> StepReport {
    let mut said = said.fuse();
    let mut text = || match said.next() {
        Some(Said::Text(text)) => (Some(text), 0),
        Some(Said::Number(number)) => (None, u32::try_from(number).unwrap_or(0)),
        Some(Said::Nothing) | None => (None, 0),
    };
    let state = text().0.unwrap_or_default();
    let state = StepState::ALL.iter().copied().find(|known| known.as_str() == state);
    let state = state.unwrap_or(StepState::Failed);
    let name = text().0.unwrap_or_default();
    let (line, attempts, attempts_max) = (text().1, text().1, text().1);
    let (code, message) = (text().0, text().0);
    let depends_on = std::iter::from_fn(|| text().0).collect();
    let code = code.or_else(|| {
        let known = code_of(message.as_deref()?).unwrap_or(ErrorCode::PlanError);
        Some(known.as_str().to_owned())
    });
    StepReport {
        name,
        state,
        line: (line > 0).then_some(line),
        depends_on,
        attempts,
        attempts_max,
        code: code.map(shortened),
        message: message.map(shortened),
        printed_bytes: printed_bytes as u64,
    }
}

fn shortened(mut text: String) -> String {
    if text.len() > STEP_MESSAGE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(STEP_MESSAGE_BYTES_MAX - "…".len()));
        text.push('…');
    }
    text
}
