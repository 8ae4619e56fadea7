//! The `luaplan` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    luaplan::cli::main()
}
