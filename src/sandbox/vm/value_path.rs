//! The path of a reader inside a value, for messages: `result.rows[3].name`.

use std::fmt;

enum PathStep {
    Name(String),
    Index(usize),
}

/// The path from a named value to a part of it.
pub(crate) struct ValuePath {
    root: String,
    steps: Vec<PathStep>,
}

impl ValuePath {
    pub(crate) fn new(root: &str) -> Self {
        Self { root: root.to_owned(), steps: Vec::new() }
    }

    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    pub(crate) fn enter_member(&mut self, name: &str) {
        self.steps.push(PathStep::Name(name.to_owned()));
    }

    pub(crate) fn enter_item(&mut self, index: usize) {
        self.steps.push(PathStep::Index(index));
    }

    pub(crate) fn leave(&mut self) {
        self.steps.pop();
    }
}

impl fmt::Display for ValuePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)?;
        for step in &self.steps {
            match step {
                PathStep::Name(name) => write!(f, ".{name}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
