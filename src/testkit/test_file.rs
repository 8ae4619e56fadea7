//! One `*_test.lua` in its sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use luaplan_base::{Error, ErrorCode, LimitProfile, Limits, Result, Value};
use luaplan_catalog::regular_file::read_text;
use luaplan_catalog::{Catalog, read_manifest};
use luaplan_engine::drive;
use luaplan_plan::{CheckedPlan, check};

use super::own_tools::with_own_tools;
use super::plan_under_test::{PlanUnderTest, TestRuns, log, request, runs_instructions_max};
use super::probe::{ObservedRun, Probe};

const LIBRARY: &str = luaplan_lua::TEST_LIBRARY;
const RUN_PLAN_MANIFEST: &str = include_str!("run_plan.toml");
const RUN_PLAN: &str = "testkit_run_plan";

/// How long listing the tests of a file may take: it runs the code outside of its tests.
const LISTING_WALL: Duration = Duration::from_secs(60);

/// The least that all tests of a file may take together.
const FILE_WALL_MIN: Duration = Duration::from_secs(600);

/// A test file that passed the check, with the plan it tests.
pub(super) struct TestFile {
    test: CheckedPlan,
    limits: Limits,
    plan: PlanUnderTest,
}

/// The result of one test.
pub(super) struct TestRun {
    pub(super) result: Result<()>,
    /// What the test itself printed.
    pub(super) printed: String,
    /// The runs it made of its plan.
    pub(super) seen: Vec<ObservedRun>,
}

impl TestFile {
    /// Reads a test file and the plan beside it (`x_test.lua` tests `x.lua`).
    /// `name` is how messages call it.
    pub(super) fn open(path: &Path, name: &str, catalog: &Arc<Catalog>, limits: &Limits) -> Result<Self> {
        let plan_path = plan_beside(path)?;
        let source = read_plan(&plan_path)?;
        Self::open_for(path, name, (plan_path.display().to_string(), source), catalog, limits)
    }

    /// Reads a test file for a plan given by its name and source, whatever lies beside the file.
    pub(super) fn open_for(
        path: &Path,
        name: &str,
        (plan_name, plan_source): (String, String),
        catalog: &Arc<Catalog>,
        limits: &Limits,
    ) -> Result<Self> {
        let text = read(path)?;
        let catalog = with_own_tools(path, &text, catalog)?;
        let source = format!("{} {text}", joined_library());
        // The test may use more memory and output than its plan, and its time covers several runs of it; its
        // instructions are for assertions, so that a loop ends soon.
        let mut test_limits = LimitProfile::Generous.limits();
        test_limits.instructions = LimitProfile::Standard.limits().instructions;
        test_limits.wall = limits.wall.saturating_mul(4).max(Duration::from_secs(60));
        let report = check(
            &source,
            name,
            &Catalog::from_iter([read_manifest(RUN_PLAN_MANIFEST, "run_plan.toml")?]),
            &test_limits,
        );
        let findings: Vec<String> =
            report.errors().map(|finding| format!("line {}: {}", finding.line, finding.message)).collect();
        let test = report.plan.ok_or_else(|| Error::new(ErrorCode::CheckRefused, findings.join("; ")))?;
        let plan = PlanUnderTest {
            folder: path.parent().unwrap_or(Path::new("")).to_path_buf(),
            name: plan_name,
            source: plan_source,
            catalog,
            limits: limits.clone(),
            runs_instructions_max: runs_instructions_max(limits),
        };
        Ok(Self { test, limits: test_limits, plan })
    }

    /// The plan it tests.
    pub(super) fn plan(&self) -> &PlanUnderTest {
        &self.plan
    }

    /// The names of its tests, in order.
    pub(super) async fn names(&self) -> Result<Vec<String>> {
        let nothing = Value::from_iter([] as [(&str, Value); 0]);
        let (listed, _, _) = self.run(nothing, &Probe::default(), LISTING_WALL).await;
        let listed = listed?;
        let items = listed.as_array().unwrap_or_default();
        Ok(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// How long all its tests may take together.
    pub(super) fn wall(&self) -> Duration {
        self.limits.wall.max(FILE_WALL_MIN)
    }

    /// Runs the test at `index` (from 0) in a fresh VM.
    pub(super) async fn run_test(&self, index: usize, probe: &Probe) -> TestRun {
        self.run_test_within(index, probe, self.limits.wall).await
    }

    /// The same, stopped after `wall` where that is less than it may take anyway.
    pub(super) async fn run_test_within(&self, index: usize, probe: &Probe, wall: Duration) -> TestRun {
        let select = i64::try_from(index + 1).unwrap_or(i64::MAX);
        let (result, printed, seen) = self.run(Value::from_iter([("select", select)]), probe, wall).await;
        TestRun { result: result.map(drop), printed, seen }
    }

    async fn run(
        &self,
        context: Value,
        probe: &Probe,
        wall: Duration,
    ) -> (Result<Value>, String, Vec<ObservedRun>) {
        let limits = Limits { wall: wall.min(self.limits.wall), ..self.limits.clone() };
        let request = request(self.test.clone(), context, vec![RUN_PLAN.to_owned()], &limits, None);
        let runs = TestRuns::new(&self.plan, probe);
        let outcome = drive(request, &runs, &log()).await;
        (outcome.result.map_err(|why| why.into_error(&outcome.run_id)), outcome.printed, runs.seen())
    }
}

/// The library on one line, so that the first line of the test file stays the first.
fn joined_library() -> String {
    let code = LIBRARY.lines().map(str::trim).filter(|line| !line.starts_with("--"));
    code.collect::<Vec<_>>().join(" ")
}

fn plan_beside(path: &Path) -> Result<PathBuf> {
    let stem =
        path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix("_test.lua"));
    let stem = stem.filter(|stem| !stem.is_empty()).ok_or_else(|| {
        Error::new(ErrorCode::Usage, format!("{} is not named `NAME_test.lua`", path.display()))
    })?;
    Ok(path.with_file_name(format!("{stem}.lua")))
}

fn read_plan(path: &Path) -> Result<String> {
    if path.exists() {
        return read(path);
    }
    let name = path.file_name().unwrap_or_default().display();
    Err(Error::new(ErrorCode::FileUnreadable, format!("the plan it tests, {name}, is not beside it")))
}

fn read(path: &Path) -> Result<String> {
    read_text(path).map_err(|error| {
        Error::new(ErrorCode::FileUnreadable, format!("cannot read {}: {error}", path.display()))
    })
}
