//! Configuration files: what they say, and who else may read or write them.

use std::path::Path;

use luaplan_base::{Error, counted};
use luaplan_catalog::regular_file::read_text;

use super::{DoctorReport, DoctorState};
use crate::ApiKeys;
use crate::config::{Config, Environment, LoadOptions, Loaded, load, mask_passwords};

/// How the documentation writes a user and a password in an address.
const PLACEHOLDER: &str = "USER:PASSWORD@";

pub(super) fn configuration(
    report: &mut DoctorReport,
    environment: &Environment,
    options: &LoadOptions,
) -> Option<(Loaded, Config)> {
    match read(environment, options) {
        Ok((loaded, config)) => {
            let files: Vec<String> = loaded.files.iter().map(|path| path.display().to_string()).collect();
            let what = if files.is_empty() { "defaults, no file".to_owned() } else { files.join(", ") };
            report.good("configuration", what);
            for path in &loaded.files {
                permissions(report, path);
            }
            Some((loaded, config))
        }
        Err(error) => {
            report.failed("configuration", DoctorState::Bad, &error);
            None
        }
    }
}

fn read(environment: &Environment, options: &LoadOptions) -> Result<(Loaded, Config), Error> {
    let loaded = load(environment, options)?;
    let config = loaded.check(environment)?;
    Ok((loaded, config))
}

/// The runtime never writes configuration; no other user of the machine should be able to either,
/// and where it holds a password no other user should read it.
fn permissions(report: &mut DoctorReport, path: &Path) {
    let Some(mode) = mode(path) else { return };
    if mode & 0o022 != 0 {
        let message = format!("{} may be written by others (mode {mode:o})", path.display());
        let help = format!("run `chmod go-w {}`", path.display());
        report.warn("permissions", message, &help);
    }
    let holds_password = read_text(path).is_ok_and(|text| holds_password(&text));
    if holds_password && mode & 0o044 != 0 {
        let message =
            format!("{} holds a password and may be read by others (mode {mode:o})", path.display());
        let help = format!("run `chmod go-r {}`", path.display());
        report.warn("permissions", message, &help);
    }
}

/// Comments count too: a password is no less readable there. What the documentation writes in the place of one
/// does not, as it stands beside `env:NAME` in many a file.
fn holds_password(text: &str) -> bool {
    let text = text.replace(PLACEHOLDER, "USER@");
    mask_passwords(&text) != text
}

/// The keys of the HTTP service, and whether it may listen where it is told to.
pub(super) fn api_keys(report: &mut DoctorReport, config: &Config) -> Option<ApiKeys> {
    let listen = config.server.listen;
    let Some(path) = &config.server.api_keys_file else {
        if !listen.ip().is_loopback() {
            let message = format!("`serve` refuses to listen on {listen} without API keys");
            report.warn("server", message, "set `server.api_keys_file`, or listen on 127.0.0.1");
        }
        return None;
    };
    let keys = match ApiKeys::from_file(path) {
        Ok(keys) => keys,
        // Runs of the command line need none.
        Err(error) => {
            report.failed("server", DoctorState::Warning, &error);
            return None;
        }
    };
    match mode(path) {
        Some(mode) if mode & 0o077 != 0 => {
            let message = format!("{} may be read by others (mode {mode:o})", path.display());
            report.warn("server", message, &format!("run `chmod 600 {}`", path.display()));
        }
        _ => report.good("server", format!("{listen}, {}", counted(keys.len(), "API key"))),
    }
    Some(keys)
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(std::fs::metadata(path).ok()?.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> Option<u32> {
    None
}
