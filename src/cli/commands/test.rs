//! `luaplan test [PATH]`.

use super::Session;
use crate::app::tool_catalog;
use crate::base::Result;
use crate::cli::args::{TestArgs, TestFormat};
use crate::cli::exit;
use crate::testkit::{self, TestOptions};

pub(super) async fn run(session: &Session<'_>, args: &TestArgs) -> Result<u8> {
    let config = session.load()?.check(session.environment)?;
    let options = TestOptions {
        path: session.environment.working_dir.join(&args.path),
        base_dir: session.environment.working_dir.clone(),
        filter: args.filter.clone(),
        limits: config.limits.clone(),
    };
    let report = testkit::run_tests(&options, &tool_catalog(&config)?).await?;
    let format = if session.output.is_json() { TestFormat::Json } else { args.format };
    match format {
        TestFormat::Text => session.output.line(report.to_text(session.output.colours_out()).trim_end()),
        TestFormat::Json => session.output.data(&report.to_json()),
        TestFormat::Junit => session.output.line(report.to_junit()?.trim_end()),
        TestFormat::Tap => session.output.line(report.to_tap().trim_end()),
    }
    Ok(if report.failed() == 0 { exit::DONE } else { exit::FAILED })
}
