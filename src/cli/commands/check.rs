//! `luaplan check FILE`.

use serde_json::json;

use luaplan_app::{PlanOf, check_configured};
use luaplan_base::{ErrorCode, Result, Value, counted};
use luaplan_bus::LOCAL_TENANT;
use luaplan_plan::parameters::context_of_check;
use luaplan_plan::{CheckInput, CheckReport, Finding};

use super::{Session, inputs};
use crate::cli::args::CheckArgs;
use crate::cli::exit;
use crate::cli::findings;

pub(super) async fn run(session: &Session<'_>, args: &CheckArgs) -> Result<u8> {
    let (name, source) = inputs::read_plan(session, &args.file)?;
    let context = inputs::read_context(session, args.context.as_deref())?;
    let checked = if args.live {
        let app = session.open().await?;
        let (limits, context) = (&app.config().limits, context.as_ref());
        let plan = PlanOf { tenant: LOCAL_TENANT, name: &name, source: &source, limits, context };
        app.plans().check_live_for(plan).await?
    } else {
        by_configuration(session, (&name, &source), context.as_ref())?
    };
    let ok = checked.plan.is_some();
    if session.output.is_json() {
        session.output.data(&json!({ "ok": ok, "findings": checked.findings }));
    } else {
        findings::print(session.output, &name, &source, &checked.findings);
        let is_unasked = |finding: &&Finding| finding.code == ErrorCode::PlanSqlUnasked.as_str();
        let unasked = checked.findings.iter().filter(is_unasked).count();
        if unasked > 0 {
            let places = counted(unasked, "place");
            session.output.line(format_args!("the database did not look at the statements of {places}"));
        }
    }
    Ok(if ok { exit::DONE } else { exit::REFUSED })
}

/// The check that opens nothing.
fn by_configuration(
    session: &Session<'_>,
    (name, source): (&str, &str),
    context: Option<&Value>,
) -> Result<CheckReport> {
    let (config, catalog) = session.tools()?;
    let context = context_of_check(source, context);
    let context = context.as_ref();
    let input = CheckInput {
        source,
        name,
        catalog: &catalog,
        limits: &config.limits,
        context,
        task: None,
        results: &[],
    };
    Ok(check_configured(&config, session.environment, &input))
}
