//! Records as a table for spreadsheets: the main columns, one record a row.

use std::io::Write;

use luaplan_base::{Error, ErrorCode, Result};

use super::{EventBody, Record, neutralize};

/// The columns [`write_csv`] writes, in order.
pub const CSV_COLUMNS: [&str; 15] = [
    "sequence",
    "at",
    "run_id",
    "event",
    "tool",
    "call_id",
    "ok",
    "code",
    "duration_ms",
    "message",
    "hash",
    "by",
    "tenant",
    "plan_name",
    "reason",
];

/// Writes a header and the main columns of `records` as CSV (RFC 4180).
///
/// Control characters are made visible, line breaks as `\n`, and a cell that a spreadsheet would read as a formula gets an
/// apostrophe in front.
///
/// # Errors
/// `internal` where the writer fails.
pub fn write_csv<'a>(records: impl IntoIterator<Item = &'a Record>, writer: impl Write) -> Result<()> {
    write_rows(records, writer)
        .map_err(|error| Error::new(ErrorCode::Internal, format!("the CSV could not be written: {error}")))
}

fn write_rows<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    writer: impl Write,
) -> Result<(), csv::Error> {
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(CSV_COLUMNS)?;
    for record in records {
        let body = &record.event.body;
        let fields = serde_json::to_value(body).unwrap_or_default();
        let field =
            |name: &str| cell(fields.get(name).and_then(serde_json::Value::as_str).unwrap_or_default());
        csv.write_record([
            record.sequence.to_string(),
            record.event.at.to_string(),
            record.event.run_id.to_string(),
            body.name().to_owned(),
            cell(body.tool().unwrap_or_default()),
            body.call_id().map(ToString::to_string).unwrap_or_default(),
            body.ok().map(|ok| ok.to_string()).unwrap_or_default(),
            cell(body.code().unwrap_or_default()),
            duration_ms(body).map(|ms| ms.to_string()).unwrap_or_default(),
            cell(message(body)),
            record.hash.clone(),
            field("by"),
            field("tenant"),
            field("plan_name"),
            field("reason"),
        ])?;
    }
    csv.flush()?;
    Ok(())
}

fn cell(text: &str) -> String {
    // A quoted cell may hold a line break, but it would split the row for a reader that reads line by line.
    let safe = neutralize(text.trim_end_matches('\n')).replace('\n', "\\n");
    if safe.starts_with(['=', '+', '-', '@', '\t']) { format!("'{safe}") } else { safe }
}

const fn duration_ms(body: &EventBody) -> Option<u64> {
    match body {
        EventBody::ToolCallFinished { duration_ms, .. }
        | EventBody::LlmResponseReceived { duration_ms, .. } => Some(*duration_ms),
        _ => None,
    }
}

fn message(body: &EventBody) -> &str {
    match body {
        EventBody::RunStarted { task: Some(text), .. }
        | EventBody::LlmRetryScheduled { message: text, .. }
        | EventBody::LlmRequestFailed { message: text, .. }
        | EventBody::RepairRound { message: text, .. }
        | EventBody::StepRetryScheduled { message: text, .. }
        | EventBody::StepFinished { message: Some(text), .. }
        | EventBody::SandboxViolation { message: text }
        | EventBody::Printed { text }
        | EventBody::RunFailed { message: text, .. }
        | EventBody::RunCancelled { reason: text, .. }
        | EventBody::RunPaused { reason: text, .. }
        | EventBody::RunNotResumable { reason: text, .. }
        | EventBody::ApprovalRequested { reason: text, .. }
        | EventBody::ApprovalResolved { reason: Some(text), .. }
        | EventBody::QuestionAsked { question: text, .. }
        | EventBody::QuestionAnswered { answer: Some(text), .. }
        | EventBody::SignalReceived { signal: text }
        | EventBody::SampleShared { from: text, .. }
        | EventBody::ContextSaved { name: text, .. } => text,
        EventBody::ToolCallRefused { error, .. } | EventBody::ToolCallFinished { error: Some(error), .. } => {
            error.get("error").and_then(serde_json::Value::as_str).unwrap_or_default()
        }
        _ => "",
    }
}
