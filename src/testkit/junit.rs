//! Results of plan tests as JUnit XML.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::report::{TestReport, one_line};
use crate::base::{Error, ErrorCode, Result};

impl TestReport {
    /// JUnit XML: one suite a file.
    ///
    /// # Errors
    /// `internal` where the XML cannot be written.
    pub fn to_junit(&self) -> Result<String> {
        let mut report = Report::new("luaplan");
        let mut suites: Vec<TestSuite> = Vec::new();
        for result in &self.results {
            if suites.last().is_none_or(|suite| suite.name.as_str() != result.file) {
                suites.push(TestSuite::new(result.file.clone()));
            }
            let status = match &result.failure {
                None => TestCaseStatus::success(),
                Some(message) => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_message(message.clone());
                    status
                }
            };
            let mut case = TestCase::new(one_line(&result.name), status);
            case.set_classname(result.file.clone()).set_time(result.duration);
            if !result.output.is_empty() {
                case.set_system_out(result.output.as_str());
            }
            if let Some(suite) = suites.last_mut() {
                suite.add_test_case(case);
            }
        }
        report.add_test_suites(suites);
        report.to_string().map_err(|error| {
            Error::new(ErrorCode::Internal, "the report cannot be written").with_source(error)
        })
    }
}
