//! The user that a command runs as.

use tokio::process::Command;

/// The user and group `nobody`, which owns nothing.
const NOBODY: u32 = 65_534;

/// Whether luaplan itself is root.
pub(super) fn is_root() -> bool {
    #[cfg(unix)]
    return nix::unistd::geteuid().is_root();
    #[cfg(not(unix))]
    false
}

/// Drops root and every supplementary group for a command, unless root was granted.
pub(super) fn drop_root(command: &mut Command, as_root: bool) {
    #[cfg(unix)]
    if is_root() && !as_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    #[cfg(not(unix))]
    let _ = (command, as_root);
}

/// How commands run here without a grant, in words.
#[must_use]
pub fn user_of_commands() -> Option<String> {
    is_root().then(|| format!("luaplan is root: they run as nobody ({NOBODY}) unless `as_root` is granted"))
}
