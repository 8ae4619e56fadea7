//! What is tried on candidates before one is taken: the user's plan tests, and a run on mocks.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use luaplan_base::{Limits, Result, RunId, Value};
use luaplan_engine::{DriveRequest, drive};
use luaplan_journal::Redactor;
use luaplan_plan::CheckedPlan;
use luaplan_planner::{MockVerdict, TestFailure, TestsVerdict, Trials};
use luaplan_testkit::{MockTools, test_source};

use super::service::Runs;

/// The mocks of every candidate of every run are made up alike.
const MOCK_SEED: u64 = 1;

/// A run on mocks compares plans; it need not wait as long as a real one.
const MOCK_WALL_MAX: Duration = Duration::from_secs(5);

/// Trials with the application's tools, mocked, where its runs take place.
pub(crate) struct RunTrials<'a> {
    pub(crate) runs: &'a Runs,
    pub(crate) tenant: &'a str,
    pub(crate) limits: &'a Limits,
    pub(crate) context: &'a Value,
    pub(crate) tests: Option<&'a Path>,
}

#[async_trait]
impl Trials for RunTrials<'_> {
    async fn tests(&self, plan: &CheckedPlan) -> Result<Option<TestsVerdict>> {
        let Some(tests) = self.tests else { return Ok(None) };
        let report = test_source(tests, plan.source(), &self.runs.tools.catalog, self.limits).await?;
        let failures: Vec<TestFailure> = report
            .results
            .iter()
            .filter_map(|result| {
                let message = result.failure.clone()?;
                Some(TestFailure { name: result.name.clone(), line: line_named(&message), message })
            })
            .collect();
        Ok(Some(TestsVerdict {
            passed: (report.results.len() - failures.len()) as u64,
            failed: failures.len() as u64,
            first_failure: failures.first().map(|failure| format!("{}: {}", failure.name, failure.message)),
            failures,
            shares_data: self.runs.config.share_run_data,
        }))
    }

    async fn mock_run(&self, plan: &CheckedPlan) -> Result<MockVerdict> {
        let mocks = MockTools::generated(&self.runs.tools.catalog, MOCK_SEED);
        // Its journal is thrown away: nothing happened.
        let redactor = Arc::new(Redactor::without_secrets());
        let log = self.runs.history.log_of_nothing(&RunId::generate(), redactor);
        let mut limits = self.limits.clone();
        limits.wall = limits.wall.min(MOCK_WALL_MAX);
        let tools = self.runs.tools.catalog.names().map(str::to_owned).collect();
        let request = DriveRequest {
            workers: self.runs.workers.as_ref().map(|pool| pool.of(self.tenant)),
            vms: self.runs.vms.clone(),
            run_started_at: Some(self.runs.history.now()),
            ..DriveRequest::new(plan.clone(), self.context.clone(), tools, limits)
        };
        let outcome = drive(request, &*mocks.handler(), &log).await;
        Ok(MockVerdict { code: outcome.result.err().map(|why| why.code().to_string()) })
    }
}

/// The first line of the plan that a failure names: those of the test file are named by its name.
fn line_named(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once("line ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..digits)?.parse().ok()
}
