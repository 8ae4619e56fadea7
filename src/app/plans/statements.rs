//! What the databases say of the statements of a plan, without executing them.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value as Json;
use tokio::time::Instant;

use luaplan_base::{ErrorCode, ToolFailure, Value};
use luaplan_bus::{ForeseenCall, Prepared};
use luaplan_plan::{KnownResult, Remark, Severity, is_written, written_text};

use super::results::Results;
use super::world::{Foreseen, remedy};
use crate::tools::toolbox::Toolbox;

/// The most statements of one plan that databases are asked about.
const STATEMENTS_MAX: usize = 64;
/// How long databases may take for all of them. Preparing a statement may take long by itself.
const STATEMENTS_TIME_MAX: Duration = Duration::from_secs(10);

/// What becomes of a database that cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unasked {
    /// It is told, as somebody wanted it asked.
    Told,
    /// The plan is judged without it.
    Ignored,
}

/// What the databases tell of the statements of a plan.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) remarks: Vec<Remark>,
    /// What calls give, each in the order of the source.
    pub(crate) results: Vec<KnownResult>,
}

/// Asks the databases about the statements that are known, and tells which they refuse, and what the others give.
pub(crate) async fn looked_at(
    tools: &Toolbox,
    foreseen: &[Foreseen],
    source: &str,
    unasked: Unasked,
) -> Told {
    let mut remarks = Vec::new();
    let mut results = Results::default();
    // A database that did not answer is not asked again.
    let mut silent: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut left = STATEMENTS_MAX;
    let deadline = Instant::now() + STATEMENTS_TIME_MAX;
    if unasked == Unasked::Told {
        remarks.extend(foreseen.iter().filter_map(|site| not_looked_at(tools, site)));
    }
    for site in foreseen.iter().filter(|site| !site.is_refused()) {
        let Some(tool) = tools.registry.get(&site.tool) else { continue };
        let mut refused = Vec::new();
        let mut described: Vec<Option<Json>> = Vec::new();
        for call in &site.calls {
            let database = call.known.get("database").and_then(Value::as_str).unwrap_or_default().to_owned();
            if left == 0 || silent.contains(&(site.tool.as_str(), database.clone())) {
                continue;
            }
            let asked = tokio::time::timeout_at(deadline, tool.prepare(call)).await;
            match asked.unwrap_or_else(|_| Prepared::Unasked(took_too_long())) {
                Prepared::NoStatement => continue,
                Prepared::Taken { result } => described.push(result),
                Prepared::Refused(failure) => refused.push((call, failure)),
                Prepared::Unasked(failure) => {
                    if unasked == Unasked::Told {
                        let message = format!("not asked about its statements: {}", failure.message);
                        let (code, severity) = (ErrorCode::PlanSqlUnasked, Severity::Warning);
                        remarks.push(Remark {
                            code,
                            severity,
                            span: site.span,
                            message,
                            help: remedy(&failure),
                        });
                    }
                    silent.insert((site.tool.as_str(), database));
                }
            }
            left -= 1;
        }
        described.resize(site.calls.len(), None);
        results.add(site.span, described);
        let is_always = refused.len() == site.calls.len();
        let is_meant = |call: &ForeseenCall| call.texts("sql").any(|sql| is_written(source, sql));
        // Of several statements that the plan puts together not each need come to the call.
        let worst = refused.iter().position(|(call, _)| is_always || is_meant(call));
        let severity = if worst.is_some() { Severity::Error } else { Severity::Warning };
        if let Some((call, failure)) = refused.into_iter().nth(worst.unwrap_or_default()) {
            let position = match failure.details.get("position") {
                Some(Value::Integer(position)) => usize::try_from(*position).ok(),
                _ => None,
            };
            let code = ErrorCode::PlanSqlRefused;
            let help = match failure.details.contains_key("help") {
                true => remedy(&failure),
                false => code.remedy().to_owned(),
            };
            let message = format!("the statement of `{}` is refused: {}", site.tool, failure.message);
            let span = place(source, site, call, position);
            remarks.push(Remark { code, severity, span, message, help });
        }
    }
    Told { remarks, results: results.into_known() }
}

fn took_too_long() -> ToolFailure {
    let seconds = STATEMENTS_TIME_MAX.as_secs();
    let message = format!("the statements of the plan took more than {seconds} s to look at");
    ToolFailure::new(ErrorCode::ToolTimeout, message)
}

/// The advice about a place whose statement no database looks at before the plan runs.
fn not_looked_at(tools: &Toolbox, site: &Foreseen) -> Option<Remark> {
    let tool = tools.registry.get(&site.tool).filter(|_| !site.is_refused())?;
    let why = site.calls.iter().find_map(|call| tool.not_looked_at(call))?;
    Some(Remark {
        code: ErrorCode::PlanSqlUnasked,
        severity: Severity::Warning,
        span: site.span,
        message: format!("the database did not look at the statement of this call of `{}`: {why}", site.tool),
        help: "the database judges it when the plan runs; write it as one text, with `?` and `params` for values".to_owned(),
    })
}

/// The word at fault where the statement is a text of the plan; else the text, else the call.
fn place(source: &str, site: &Foreseen, call: &ForeseenCall, position: Option<usize>) -> (usize, usize) {
    let text = call.known.get("sql").and_then(Value::as_str);
    let written = text.and_then(|text| written_text(source, text, site.span));
    written.map_or(site.span, |written| {
        position.map_or(written.span, |position| written.word_at(source, position))
    })
}
