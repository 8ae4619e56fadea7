//! `luaplan doctor`.

use owo_colors::Style;

use luaplan_app::{DoctorState, examine};
use luaplan_base::Result;
use luaplan_journal::neutralize;

use super::Session;
use crate::cli::exit;

pub(super) async fn run(session: &Session<'_>) -> Result<u8> {
    let report = examine(session.environment, &session.options).await;
    if session.output.is_json() {
        session.output.data(&report.to_json());
    } else {
        for check in &report.checks {
            let (mark, style) = match check.state {
                DoctorState::Good => ("ok  ", Style::new().green()),
                DoctorState::Warning => ("warn", Style::new().yellow()),
                DoctorState::Bad => ("FAIL", Style::new().red().bold()),
            };
            session.output.line(format_args!(
                "{}  {:<16} {}",
                session.output.paint(mark, style),
                neutralize(&check.name),
                neutralize(&check.message)
            ));
            if let Some(help) = &check.help {
                session.output.line(format_args!("      {:<16} → {}", "", neutralize(help)));
            }
        }
    }
    // This command's exit codes: 0 no problems, 1 cannot run, 2 warnings.
    Ok(match report.worst() {
        DoctorState::Good => exit::DONE,
        DoctorState::Bad => 1,
        DoctorState::Warning => 2,
    })
}
