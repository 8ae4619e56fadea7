//! Where in a source something stands.

/// A byte range of a source: its start and its exclusive end.
pub type Span = (usize, usize);

/// Turns byte offsets of a source into lines and columns.
#[derive(Debug)]
pub struct Lines<'a> {
    source: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Indexes `source` once.
    #[must_use]
    pub fn new(source: &'a str) -> Self {
        let after_breaks =
            source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { source, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The line of an offset, from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        let count = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The column of an offset in characters, from 1.
    #[must_use]
    pub fn column(&self, offset: usize) -> u32 {
        let start = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let line_start = self.starts.get(start).copied().unwrap_or(0);
        let before = self.source.get(line_start..offset).map_or(0, |text| text.chars().count());
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The indentation of the line, and whether the offset is the first thing after it.
    #[must_use]
    pub fn indent(&self, offset: usize) -> (usize, bool) {
        let start = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let line_start = self.starts.get(start).copied().unwrap_or(0);
        let line = self.source.get(line_start..).unwrap_or_default();
        let width = line.len() - line.trim_start_matches([' ', '\t']).len();
        (width, line_start + width == offset)
    }
}
