//! Whether something fits a pattern, where it may be that nobody can tell.

/// Yes, no, or perhaps. A rule that restricts takes "perhaps" for yes, a rule that allows for no: what
/// cannot be judged is never let through by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It does not.
    No,
    /// It cannot be told.
    Maybe,
    /// It does.
    Yes,
}

impl Fit {
    /// Whether one of several fits.
    #[must_use]
    pub fn any(fits: impl IntoIterator<Item = Self>) -> Self {
        fits.into_iter().max().unwrap_or(Self::No)
    }

    /// Whether all of several fit; of none, all do.
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
