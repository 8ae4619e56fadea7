//! Rank 6: unit tests for plans.
//!
//! A `NAME_test.lua` beside `NAME.lua` describes runs of the plan with mocked tools. The test file
//! runs in a sandbox of its own, one fresh VM a test; the plan under test runs in another, through
//! the same check and the same engine as any run. Only the tools are mocks.
//!
//! **Never here:** real tools, the bus, a stored journal.

mod changes;
mod coverage;
mod defaults;
mod faults;
mod fixture;
mod generated;
mod junit;
mod mock;
mod mock_tools;
mod own_tools;
mod plan_under_test;
mod probe;
mod recorder;
mod report;
mod runner;
mod test_file;
mod virtual_time;

pub use changes::{Affected, Snapshot};
pub use coverage::{Coverage, PlanCoverage};
pub use faults::{FaultOptions, FaultReport, FaultResult, FaultScope, FaultVerdict, run_faults};
pub use fixture::Fixture;
pub use mock_tools::MockTools;
pub use own_tools::names_own_tools;
pub use report::{TestReport, TestResult};
pub use runner::{TestOptions, count_tests, run_tests, test_source};
