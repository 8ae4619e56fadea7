//! Faults in texts of a plan's calls, such as templates, found before a call is made.

use luaplan_base::{ErrorCode, Value};
use luaplan_bus::{ForeseenCall, TextFault, Tool};
use luaplan_plan::{Remark, Severity, is_written, written_text};

use super::world::Foreseen;

/// A fault in a text of a place's calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FaultyText {
    fault: TextFault,
    text: String,
    /// Whether every call with this text has it, and whether every call has.
    is_of_text: bool,
    is_of_all: bool,
}

/// The faults in the texts of the calls that one place may make, each once.
pub(super) fn faulty_texts(tool: &dyn Tool, calls: &[ForeseenCall]) -> Vec<FaultyText> {
    let found: Vec<Vec<TextFault>> = calls.iter().map(|call| tool.text_faults(call)).collect();
    let text_of = |call: &ForeseenCall, fault: &TextFault| {
        call.known.get(&fault.parameter).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut faulty: Vec<FaultyText> = Vec::new();
    for (call, faults) in calls.iter().zip(&found) {
        for fault in faults {
            let text = text_of(call, fault);
            if faulty.iter().any(|known| known.fault == *fault && known.text == text) {
                continue;
            }
            let has_it = |(_, faults): &(&ForeseenCall, &Vec<TextFault>)| faults.contains(fault);
            let pairs = || calls.iter().zip(&found);
            let is_of_text =
                pairs().filter(|(call, _)| text_of(call, fault) == text).all(|pair| has_it(&pair));
            let is_of_all = pairs().all(|pair| has_it(&pair));
            faulty.push(FaultyText { fault: fault.clone(), text, is_of_text, is_of_all });
        }
    }
    faulty
}

impl Foreseen {
    /// The findings about texts, as bad as `severity` where every call of the place, or each with a text that the plan
    /// holds as it is, has the fault; else advice.
    pub(super) fn text_remarks(&self, source: &str, severity: Severity) -> Vec<Remark> {
        let remark = |FaultyText { fault, text, is_of_text, is_of_all }: &FaultyText| {
            let is_meant = *is_of_all || *is_of_text && is_written(source, text);
            let severity = if fault.is_sure && is_meant { severity } else { Severity::Warning };
            let span = written_text(source, text, self.span).map_or(self.span, |written| {
                fault.position.map_or(written.span, |position| written.word_at(source, position))
            });
            Remark {
                code: ErrorCode::PlanTemplateRefused,
                severity,
                span,
                message: format!("the {} of `{}`: {}", fault.parameter, self.tool, fault.message),
                help: fault.help.clone(),
            }
        };
        self.texts.iter().map(remark).collect()
    }
}
