//! What `luaplan show RUN --call CALL` prints.

use luaplan_app::CallReport;
use luaplan_base::Result;
use luaplan_journal::{ApprovalState, CallState, Resolved, neutralize};

use crate::cli::edits;
use crate::cli::output::Output;
use crate::cli::shortened::{Detail, all_of_call};

pub(super) fn print(output: &Output, report: &CallReport, detail: Detail) -> Result<()> {
    if output.is_json() {
        output.data(report);
        return Ok(());
    }
    let asked = report.approvals.last();
    let (call_id, tool, arguments) = match (&report.call, asked) {
        (Some(call), _) => (&call.call_id, &call.tool, &call.arguments),
        (None, Some(asked)) => (&asked.call_id, &asked.tool, &asked.arguments),
        (None, None) => return Ok(()),
    };
    let all = all_of_call(&report.run_id, call_id.as_str());
    let line = report.call.as_ref().and_then(|call| call.line).or_else(|| asked.and_then(|asked| asked.line));
    let line = line.map_or_else(String::new, |line| format!(", line {line}"));
    output.line(neutralize(&format!("call {call_id} {tool}{line}, of run {}", report.run_id)));
    for approval in &report.approvals {
        output.line(neutralize(&decision(approval)));
        for change in edits::decided(approval)? {
            output.line(format_args!("  {change}"));
        }
    }
    output.heading("arguments");
    for line in detail.arguments(arguments, &all, |_| String::new()) {
        output.line(line);
    }
    let Some(call) = &report.call else { return Ok(()) };
    output.heading("what came of it");
    output.line(neutralize(&detail.text(&ending(call), &all)));
    let result = match &call.resolved {
        Some(Resolved::Done { result }) => Some(result),
        _ => call.end.as_ref().and_then(|end| end.result.as_ref().or(end.error.as_ref())),
    };
    if let Some(result) = result {
        output.part_data(result, detail, &all);
    }
    Ok(())
}

fn decision(approval: &ApprovalState) -> String {
    match &approval.decision {
        Some(decided) => {
            let reason = decided.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("  `{}` by {} at {:.0}{reason}", decided.decision, decided.by, decided.at)
        }
        None => format!("  waits for approval since {:.0}: {}", approval.requested_at, approval.reason),
    }
}

fn ending(call: &CallState) -> String {
    match (&call.resolved, &call.end) {
        (Some(Resolved::Retry), _) => "in doubt; a person said to make it again".to_owned(),
        (Some(Resolved::Done { .. }), _) => {
            "in doubt; a person said that it took effect, with this result".to_owned()
        }
        (Some(Resolved::Failed { message }), _) => {
            format!("in doubt; a person said that it did not take effect: {message}")
        }
        (None, Some(end)) if end.ok => format!("done: {} bytes, {} ms", end.result_bytes, end.duration_ms),
        (None, Some(end)) => {
            let code = end.code.as_deref().unwrap_or("no code");
            if call.refused {
                format!("refused ({code}); it was not made")
            } else {
                format!("failed ({code})")
            }
        }
        (None, None) => "begun, without an outcome on record".to_owned(),
    }
}
