//! Results of plan tests as JUnit XML.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use luaplan_base::{Error, ErrorCode, Result};

use super::report::{TestReport, one_line};

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
        for plan in self.coverage.iter().flat_map(|coverage| &coverage.plans) {
            // A plan and its tests differ only in their suffix.
            let tests = plan.plan.strip_suffix(".lua").map(|stem| format!("{stem}_test.lua"));
            let suite = suites.iter_mut().find(|suite| Some(suite.name.as_str()) == tests.as_deref());
            if let Some(suite) = suite {
                let (run, total) = plan.lines_run();
                let called = plan.sites.iter().filter(|site| site.calls > 0).count();
                let failed = plan.sites.iter().filter(|site| site.failures > 0).count();
                let numbers = [
                    ("coverage.lines.total", total),
                    ("coverage.lines.run", run),
                    ("coverage.calls.total", plan.sites.len()),
                    ("coverage.calls.called", called),
                    ("coverage.calls.failed", failed),
                ];
                for (name, number) in numbers {
                    suite.add_property((name, number.to_string().as_str()));
                }
            }
        }
        report.add_test_suites(suites);
        report.to_string().map_err(|error| {
            Error::new(ErrorCode::Internal, "the report cannot be written").with_source(error)
        })
    }
}
