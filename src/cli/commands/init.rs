//! `luaplan init`: a folder to start from.

use std::path::{Path, PathBuf};

use serde_json::json;

use luaplan_base::{Error, ErrorCode, Result};

use super::Session;
use super::config::{TEMPLATE, write_new};
use crate::cli::args::InitArgs;
use crate::cli::exit;

const FILES: [(&str, &str); 3] = [
    ("luaplan.toml", TEMPLATE),
    ("plans/hello.lua", include_str!("../../../examples/hello/plan.lua")),
    ("plans/hello_test.lua", include_str!("../../../examples/hello/plan_test.lua")),
];

pub(super) fn run(session: &Session<'_>, args: &InitArgs) -> Result<u8> {
    let folder = session.environment.working_dir.join(&args.dir);
    // All files or none: an incomplete folder would be worse than a refusal.
    for (name, _) in FILES {
        let path = folder.join(name);
        if path.symlink_metadata().is_ok() {
            return Err(Error::new(
                ErrorCode::FileExists,
                format!("{} is already there", args.dir.join(name).display()),
            )
            .with_help("nothing is overwritten: choose an empty folder, or remove the file"));
        }
    }
    std::fs::create_dir_all(folder.join("plans")).map_err(|error| {
        Error::new(ErrorCode::FileUnreadable, format!("cannot create {}: {error}", folder.display()))
    })?;
    let mut written: Vec<PathBuf> = Vec::new();
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Err(error) = write_new(&path, text) {
            for path in &written {
                // The first failure is the one to report.
                let _ = std::fs::remove_file(path);
            }
            return Err(error);
        }
        written.push(path);
    }
    let here = args.dir == Path::new(".");
    let named = FILES.map(|(name, _)| if here { PathBuf::from(name) } else { args.dir.join(name) });
    if session.output.is_json() {
        session.output.data(&json!({ "wrote": named }));
        return Ok(exit::DONE);
    }
    for name in &named {
        session.output.line(format_args!("wrote {}", name.display()));
    }
    session.output.line("\nnext:");
    if !here {
        session.output.line(format_args!("  cd {}", args.dir.display()));
    }
    session.output.line("  luaplan doctor\n  luaplan test plans\n  luaplan run plans/hello.lua --context '{\"name\": \"world\"}'");
    Ok(exit::DONE)
}
