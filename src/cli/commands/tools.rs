//! `luaplan tools`.

use serde_json::json;

use super::Session;
use crate::base::{Error, ErrorCode, Result};
use crate::catalog::{ToolSpec, stubs};
use crate::cli::args::ToolsAction;
use crate::cli::exit;
use crate::cli::table::{LastColumn, table};
use crate::sandbox::LIBRARY_STUBS;

pub(super) fn run(session: &Session<'_>, action: Option<ToolsAction>) -> Result<u8> {
    let (_, catalog) = session.tools()?;
    let output = session.output;
    match action.unwrap_or(ToolsAction::List) {
        ToolsAction::List if output.is_json() => {
            output.data(&catalog.iter().map(|spec| spec.to_json()).collect::<Vec<_>>());
        }
        ToolsAction::List => {
            let row = |spec: &ToolSpec| {
                vec![
                    spec.name.clone(),
                    spec.effect.as_str().to_owned(),
                    spec.rate.to_string(),
                    format!("{:?}", spec.timeout),
                    first_sentence(&spec.description),
                ]
            };
            let headers = ["TOOL", "EFFECT", "RATE", "TIMEOUT", "WHAT IT DOES"];
            let rows = catalog.iter().map(|spec| row(spec)).collect();
            output.line(table(&headers, rows, LastColumn::Cut));
        }
        ToolsAction::Show { name } => {
            let spec = catalog.get(&name).ok_or_else(|| {
                let known = catalog.names().collect::<Vec<_>>().join(", ");
                Error::new(ErrorCode::NotFound, format!("there is no tool `{name}`"))
                    .with_help(format!("the tools are {known}"))
            })?;
            if output.is_json() {
                output.data(&spec.to_json());
            } else {
                let ToolSpec { rate, burst, concurrency, timeout, .. } = &**spec;
                output.line(format_args!(
                    "---Rate: {rate}, {burst} at once; at most {concurrency} under way; timeout {timeout:?}."
                ));
                output.source(&spec.stub());
            }
        }
        ToolsAction::Stubs if output.is_json() => {
            output.data(&json!({ "tools": stubs(&catalog), "library": LIBRARY_STUBS }));
        }
        ToolsAction::Stubs => output.source(&format!("{}\n{LIBRARY_STUBS}", stubs(&catalog))),
    }
    Ok(exit::DONE)
}

/// Up to the first full stop that ends a sentence.
fn first_sentence(text: &str) -> String {
    let end = text
        .match_indices('.')
        .map(|(at, _)| at)
        .find(|at| text[at + 1..].chars().next().is_none_or(char::is_whitespace));
    text[..end.unwrap_or(text.len())].replace('\n', " ")
}
