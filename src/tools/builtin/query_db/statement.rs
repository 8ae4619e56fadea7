//! A checked statement: what the check hands to a database.

use std::collections::BTreeSet;

use super::template::Rendered;

/// A checked statement, ready to send.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) rendered: Rendered,
    pub(super) kind: StatementKind,
    /// The questions to PostgreSQL before it runs.
    pub(super) questions: Questions,
}

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementKind {
    Read,
    Write,
}

/// What only a PostgreSQL server can answer. Names are as the server resolves them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Questions {
    /// Names before a bracket.
    pub(super) called: BTreeSet<String>,
    /// Those of `called` that are pure in `pg_catalog`, or words of the language.
    pub(super) known: BTreeSet<String>,
    /// Names after a dot, which are calls where no column has the name.
    pub(super) members: BTreeSet<String>,
    pub(super) operators: BTreeSet<String>,
    /// Names before a dot, which may be schemas that are not searched otherwise.
    pub(super) schemas: BTreeSet<String>,
}
