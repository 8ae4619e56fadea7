//! Registers a tool of the program's own with the bus, and runs a plan that calls it.
//!
//!     cargo run --example own_tool

use std::sync::Arc;

use async_trait::async_trait;
use luaplan::base::{
    CallOutcome, Error, ErrorCode, LimitProfile, Result, RunId, SystemClock, SystemRandomness, ToolFailure,
    Value,
};
use luaplan::bus::{
    Bus, BusParts, Invocation, Limiter, LimiterSettings, Policy, Registry, RunApprovals, RunBudget, Tool,
};
use luaplan::catalog::{ToolSpec, read_manifest};
use luaplan::engine::{DriveRequest, RunOutcome, drive};
use luaplan::journal::{JournalRead as _, MemoryJournal, RecordFilter, Redactor, RunLog};
use luaplan::plan::check;
use tokio_util::sync::CancellationToken;

const MANIFEST: &str = r#"
name = "stock_of"
description = "How many pieces of an article are in stock."
effect = "read"
kind = "builtin"
rate = "100/s"
timeout = "1s"

[params]
type = "object"
required = ["article"]
additionalProperties = false
properties.article = { type = "string", description = "The article's number." }

[result]
type = "integer"
"#;

const PLAN: &str = r#"
function run(context)
  local pieces = stock_of("A-1")
  local other = stock_of{article = "Z-9"}
  return {pieces = pieces, other = other.error, code = other.code}
end
"#;

/// The tool: a warehouse of one article.
struct StockOf {
    spec: ToolSpec,
}

#[async_trait]
impl Tool for StockOf {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        // The bus has checked the arguments against the manifest.
        match invocation.arguments.get("article").and_then(Value::as_str) {
            Some("A-1") => Ok(Value::Integer(12)),
            other => {
                let message = format!("there is no article `{}`", other.unwrap_or_default());
                Err(ToolFailure::new(ErrorCode::NotFound, message))
            }
        }
    }
}

/// Runs [`PLAN`] and returns its outcome, with the names of its events.
pub(crate) async fn example() -> Result<(RunOutcome, Vec<&'static str>)> {
    let mut registry = Registry::default();
    registry.insert(Arc::new(StockOf { spec: read_manifest(MANIFEST, "stock_of.toml")? }));
    let catalog = registry.catalog();
    let limits = LimitProfile::Strict.limits();

    let plan = check(PLAN, "stock.lua", &catalog, &limits)
        .plan
        .ok_or_else(|| Error::new(ErrorCode::CheckRefused, "the plan was refused"))?;

    let journal = Arc::new(MemoryJournal::default());
    let log = RunLog::new(
        RunId::generate(),
        journal.clone(),
        Arc::new(SystemClock),
        Arc::new(SystemRandomness),
        Arc::new(Redactor::without_secrets()),
        Vec::new(),
    );
    let cancel_calls = CancellationToken::new();
    let bus = Bus::new(BusParts {
        registry: Arc::new(registry),
        limiter: Arc::new(Limiter::new(LimiterSettings::standard())),
        policy: Policy::read_only(),
        flow: None,
        wakes: std::collections::HashMap::new(),
        questions: std::collections::HashMap::new(),
        approvals: RunApprovals::default(),
        log: log.clone(),
        budget: Arc::new(RunBudget::new(limits.clone(), 0)),
        cancellation: cancel_calls.clone(),
        deadline: tokio::time::Instant::now() + limits.wall,
        result_bytes_max: limits.result_bytes,
    });
    let tools = catalog.names().map(str::to_owned).collect();
    let context = Value::Object(indexmap::IndexMap::new());
    let request = DriveRequest { cancel_calls, ..DriveRequest::new(plan, context, tools, limits) };
    let outcome = drive(request, &bus, &log).await;
    let records = journal.records(RecordFilter::default()).await?;
    Ok((outcome, records.iter().map(|record| record.event.body.name()).collect()))
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program that shows what it does")]
async fn main() -> Result<()> {
    let (outcome, events) = example().await?;
    println!("{events:?}");
    println!("{:#}", outcome.to_json());
    Ok(())
}
