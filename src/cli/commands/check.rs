//! `luaplan check FILE`.

use serde_json::json;

use luaplan_base::Result;
use luaplan_plan::{CheckInput, check_with};

use super::{Session, inputs};
use crate::cli::args::CheckArgs;
use crate::cli::exit;
use crate::cli::findings;

pub(super) fn run(session: &Session<'_>, args: &CheckArgs) -> Result<u8> {
    let (name, source) = inputs::read_plan(session, &args.file)?;
    let (config, catalog) = session.tools()?;
    let context = inputs::read_context(session, args.context.as_deref())?;
    let input = CheckInput {
        source: &source,
        name: &name,
        catalog: &catalog,
        limits: &config.limits,
        context: context.as_ref(),
        task: None,
    };
    let checked = config.sandbox.judge(check_with(&input), &source);
    let ok = checked.plan.is_some();
    if session.output.is_json() {
        session.output.data(&json!({ "ok": ok, "findings": checked.findings }));
    } else {
        findings::print(session.output, &name, &source, &checked.findings);
    }
    Ok(if ok { exit::DONE } else { exit::REFUSED })
}
