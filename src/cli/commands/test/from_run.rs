//! `luaplan test from-run RUN`.

use std::path::{Path, PathBuf};

use serde_json::json;

use luaplan_app::{no_such_run, tool_catalog};
use luaplan_base::{Error, ErrorCode, Result};
use luaplan_journal::{JournalRead as _, RecordFilter};
use luaplan_testkit as testkit;
use luaplan_testkit::{Fixture, TestOptions};

use super::super::{Session, show};
use crate::cli::args::FromRunArgs;
use crate::cli::exit;

pub(super) async fn run(session: &Session<'_>, args: &FromRunArgs) -> Result<u8> {
    let journal = session.journal().await?.ok_or_else(show::no_runs)?;
    let run_id = show::find(&journal, &args.run).await?;
    let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    let records = journal.records(filter).await?;
    if records.is_empty() {
        return Err(no_such_run(&run_id));
    }
    let fixture = Fixture::from_records(&records)?;
    let name = match &args.name {
        Some(name) => checked_name(name)?,
        None => fixture.default_name(),
    };
    let folder = session.environment.working_dir.join(&args.output);
    let files = [
        (format!("{name}.lua"), fixture.source().to_owned()),
        (Fixture::file_name(&name), fixture.to_file()?),
        (format!("{name}_test.lua"), fixture.test_source(&name)),
    ];
    // Both files or none: a plan beside the test of another would be worse than a refusal.
    for (file, text) in &files {
        refuse_to_replace(&folder.join(file), text, args)?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    for (file, text) in &files {
        let path = folder.join(file);
        std::fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
    }
    let failure = replay(session, &folder.join(&files[2].0)).await?;
    let shown = |file: &str| match args.output.as_path() == Path::new(".") {
        true => PathBuf::from(file),
        false => args.output.join(file),
    };
    let output = session.output;
    if output.is_json() {
        output.data(&json!({
            "run_id": fixture.run_id,
            "wrote": files.iter().map(|(file, _)| shown(file)).collect::<Vec<_>>(),
            "redacted": fixture.redacted,
            "passes": failure.is_none(),
            "message": failure,
        }));
    } else {
        for (file, _) in &files {
            output.line(format_args!("wrote {}", shown(file).display()));
        }
        if !fixture.redacted.is_empty() {
            let count = fixture.redacted.len();
            output.line(format_args!(
                "secrets were taken out of the record in {count} places; the test names them"
            ));
        }
        match &failure {
            None => {
                output.line(format_args!("the test passes: luaplan test {}", shown(&files[2].0).display()));
            }
            Some(failure) => output.line(format_args!("the test does not pass as it stands: {failure}")),
        }
    }
    Ok(if failure.is_none() { exit::DONE } else { exit::FAILED })
}

/// Why the new test does not pass, if it does not.
async fn replay(session: &Session<'_>, test: &Path) -> Result<Option<String>> {
    let config = session.load()?.check(session.environment)?;
    let options = TestOptions {
        path: test.to_path_buf(),
        only: None,
        base_dir: session.environment.working_dir.clone(),
        filter: None,
        limits: config.limits.clone(),
        coverage: false,
    };
    let report = testkit::run_tests(&options, &tool_catalog(&config)?).await?;
    Ok(report.results.into_iter().find_map(|result| result.failure))
}

fn checked_name(name: &str) -> Result<String> {
    let is_plain = !name.is_empty()
        && !name.starts_with('.')
        && !name.ends_with("_test")
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    match is_plain {
        true => Ok(name.to_owned()),
        false => Err(Error::new(ErrorCode::Usage, format!("`--name {name}` is no name for a plan"))
            .with_help("use letters, digits, `-` and `_`; the folder is `--output`")),
    }
}

fn refuse_to_replace(path: &Path, text: &str, args: &FromRunArgs) -> Result<()> {
    if args.force
        || path.symlink_metadata().is_err()
        || std::fs::read(path).is_ok_and(|there| there == text.as_bytes())
    {
        return Ok(());
    }
    Err(Error::new(ErrorCode::FileExists, format!("{} is already there, and is another", path.display()))
        .with_help(
            "nothing is overwritten: choose another `--name` or `--output`, or replace it with `--force`",
        ))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::FileUnreadable, format!("cannot write {}: {error}", path.display()))
}
