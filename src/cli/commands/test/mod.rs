//! `luaplan test [PATH]`.

use std::collections::BTreeSet;
use std::path::Path;

use luaplan_app::tool_catalog;
use luaplan_base::{Error, ErrorCode, Result};
use luaplan_catalog::Catalog;
use luaplan_journal::neutralize;
use luaplan_testkit as testkit;
use luaplan_testkit::{Coverage, FaultOptions, TestOptions, TestReport};

use super::Session;
use crate::cli::args::{Retryable, TestAction, TestArgs, TestFormat};
use crate::cli::exit;

mod from_run;
mod watch;

pub(super) async fn run(session: &Session<'_>, args: &TestArgs) -> Result<u8> {
    if let Some(TestAction::FromRun(args)) = &args.action {
        return from_run::run(session, args).await;
    }
    check(args)?;
    if args.watch {
        return watch::run(session, args).await;
    }
    let (options, catalog) = means(session, args)?;
    once(session, args, &options, &catalog).await
}

/// What to test, and the tools of the plans.
fn means(session: &Session<'_>, args: &TestArgs) -> Result<(TestOptions, Catalog)> {
    let config = session.load()?.check(session.environment)?;
    let options = TestOptions {
        path: session.environment.working_dir.join(&args.path),
        only: None,
        base_dir: session.environment.working_dir.clone(),
        filter: args.filter.clone(),
        limits: config.limits.clone(),
        coverage: args.coverage || args.coverage_min.is_some() || args.coverage_lcov.is_some(),
    };
    Ok((options, tool_catalog(&config)?))
}

fn check(args: &TestArgs) -> Result<()> {
    match args.coverage_min {
        Some(least) if !(0.0..=100.0).contains(&least) => {
            let message = format!("`--coverage-min {least}` is no share of a hundred");
            Err(Error::new(ErrorCode::Usage, message).with_help("write a number from 0 to 100"))
        }
        _ => Ok(()),
    }
}

/// Runs the tests and reports them. Returns the exit code.
async fn once(
    session: &Session<'_>,
    args: &TestArgs,
    options: &TestOptions,
    catalog: &Catalog,
) -> Result<u8> {
    if let Some(scope) = &args.faults {
        return faults(session, args, scope, options, catalog).await;
    }
    let output = session.output;
    let report = testkit::run_tests(options, catalog).await?;
    match form(session, args) {
        TestFormat::Text => output.line(report.to_text(output.colours_out()).trim_end()),
        TestFormat::Json => output.data(&report.to_json()),
        TestFormat::Junit => output.line(report.to_junit()?.trim_end()),
        TestFormat::Tap => output.line(report.to_tap().trim_end()),
    }
    if report.failed() > 0 {
        tell_of_other_tools(session, &report)?;
    }
    let is_covered = match &report.coverage {
        Some(coverage) => covered(session, args, coverage)?,
        None => true,
    };
    Ok(if report.failed() == 0 && is_covered { exit::DONE } else { exit::FAILED })
}

/// A failed test in a folder with tools of its own may fail for lack of them: manifests are read from
/// one folder, starting at the working folder.
fn tell_of_other_tools(session: &Session<'_>, report: &TestReport) -> Result<()> {
    let tools_dir = session.load()?.raw.tools_dir;
    let here = &session.environment.working_dir;
    let failed = report
        .results
        .iter()
        .filter(|result| result.failure.is_some() && !testkit::names_own_tools(&here.join(&result.file)));
    let folders: BTreeSet<&Path> = failed
        .flat_map(|result| Path::new(&result.file).ancestors().skip(1))
        .filter(|folder| !folder.as_os_str().is_empty() && *folder != here)
        .filter(|folder| !Path::new(&tools_dir).is_absolute() && here.join(folder).join(&tools_dir).is_dir())
        .collect();
    for folder in folders {
        let (folder, tools) = (folder.display().to_string(), folder.join(&tools_dir).display().to_string());
        session.output.note(neutralize(&format!(
            "note: the tools of {tools} are not read from here; `cd {folder}` first, give `--set tools_dir={tools}`, \
             or name them in the test: `-- luaplan: tools_dir({tools_dir})`"
        )));
    }
    Ok(())
}

fn form(session: &Session<'_>, args: &TestArgs) -> TestFormat {
    if session.output.is_json() { TestFormat::Json } else { args.format }
}

/// Writes the tracefile, and returns whether the tests reach the required share.
fn covered(session: &Session<'_>, args: &TestArgs, coverage: &Coverage) -> Result<bool> {
    if let Some(file) = &args.coverage_lcov {
        std::fs::write(session.environment.working_dir.join(file), coverage.to_lcov()).map_err(|error| {
            Error::new(ErrorCode::FileUnreadable, format!("cannot write {}: {error}", file.display()))
        })?;
    }
    let Some(least) = args.coverage_min else { return Ok(true) };
    let reached = coverage.percent();
    if reached < least {
        session.output.note(format_args!("{reached:.1} % of lines ran, {least} % were asked for"));
    }
    Ok(reached >= least)
}

async fn faults(
    session: &Session<'_>,
    args: &TestArgs,
    scope: &str,
    options: &TestOptions,
    catalog: &Catalog,
) -> Result<u8> {
    let faults = FaultOptions {
        scope: scope.parse()?,
        code: args.fault_code.clone(),
        retryable: match args.fault_retryable {
            Retryable::Yes => vec![true],
            Retryable::No => vec![false],
            Retryable::Both => vec![true, false],
        },
    };
    let output = session.output;
    let report = testkit::run_faults(options, &faults, catalog).await?;
    match form(session, args) {
        TestFormat::Text => output.line(report.to_text(output.colours_out()).trim_end()),
        TestFormat::Json => output.data(&report.to_json()),
        TestFormat::Junit => output.line(report.to_junit()?.trim_end()),
        TestFormat::Tap => output.line(report.to_tap().trim_end()),
    }
    Ok(if report.failed() == 0 { exit::DONE } else { exit::FAILED })
}
