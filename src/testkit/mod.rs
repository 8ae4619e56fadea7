//! Rank 7: unit tests for plans.
//!
//! A `NAME_test.lua` beside `NAME.lua` describes runs of the plan with mocked tools. The test file
//! runs in a sandbox of its own, one fresh VM a test; the plan under test runs in another, through
//! the same check and the same engine as any run. Only who answers the calls differs.
//!
//! **Never here:** real tools, the bus, a journal that is kept.

mod defaults;
mod junit;
mod mock;
mod mock_tools;
mod recorder;
mod report;
mod runner;
mod test_file;

pub use mock_tools::MockTools;
pub use report::{TestReport, TestResult};
pub use runner::{TestOptions, run_tests};
