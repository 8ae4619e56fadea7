//! Whether a value matches a pattern, in three-valued logic.

/// Yes, no, or undecidable. A rule that restricts treats undecidable as yes, a rule that allows as no, so that
/// a value that cannot be judged is never allowed by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It does not match.
    No,
    /// It cannot be decided.
    Maybe,
    /// It matches.
    Yes,
}

impl Fit {
    /// Whether one of several matches.
    #[must_use]
    pub fn any(fits: impl IntoIterator<Item = Self>) -> Self {
        fits.into_iter().max().unwrap_or(Self::No)
    }

    /// Whether all of several match; true for none.
    #[must_use]
    pub fn all(fits: impl IntoIterator<Item = Self>) -> Self {
        fits.into_iter().min().unwrap_or(Self::Yes)
    }
}

impl std::ops::Not for Fit {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Fit {
    fn from(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}
