//! Tables without rules, one row per line, for terminals and pipes.

use comfy_table::{ContentArrangement, Table, presets};

use luaplan_base::RunId;

use super::shortened::shorten;

/// The width where that of the terminal is unknown, as in a pipe.
const WIDTH_IN_PIPE: usize = 100;
const GAP: u16 = 2;
/// The least width of the last column, even where the terminal is narrower.
const LAST_MIN: usize = 20;

/// Whether the last column may be cut so that each row fits its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastColumn {
    /// Yes: it is text for a quick look.
    Cut,
    /// No: it is data.
    Whole,
}

/// The table as text, without a line feed at its end. Cells hold no line feeds.
pub(super) fn table(headers: &[&str], mut rows: Vec<Vec<String>>, last: LastColumn) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if last == LastColumn::Cut {
        // Some terminals report zero columns.
        let width = table.width().filter(|width| *width > 0).map_or(WIDTH_IN_PIPE, usize::from);
        cut(headers, &mut rows, width);
    }
    table.set_header(headers);
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, GAP));
    }
    table.trim_fmt()
}

fn cut(headers: &[&str], rows: &mut [Vec<String>], width: usize) {
    let Some((_, before_last)) = headers.split_last() else { return };
    let used: usize = before_last
        .iter()
        .enumerate()
        .map(|(column, header)| {
            let widest = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
            widest.unwrap_or(0).max(header.chars().count()) + usize::from(GAP)
        })
        .sum();
    let room = width.saturating_sub(used + 1).max(LAST_MIN);
    for cell in rows.iter_mut().filter_map(|row| row.last_mut()) {
        *cell = shorten(cell, after_id(cell, room));
    }
}

/// Where to cut a text with room for so many characters: after a run's id that would be cut, as a cut id is of no
/// use to the next command.
fn after_id(text: &str, room: usize) -> usize {
    let mut end = 0;
    for word in text.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let start = end;
        end += word.chars().count();
        let id = word.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        let id_end = start + id.chars().count();
        if start < room && room < id_end && id.parse::<RunId>().is_ok() {
            return id_end;
        }
    }
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_run_is_not_cut() {
        let id = RunId::generate().to_string();
        let text = format!("agent counter of {id}: plan.lua");
        for room in 0..text.len() + 2 {
            let shown = shorten(&text, after_id(&text, room));
            assert_eq!(shown.contains(&id), room > 17, "{room}: {shown}");
        }
        assert_eq!(after_id("no id in words that are as-long-as-one-of-these-ids-would-be-here", 30), 30);
        assert_eq!(after_id("\u{e9}\u{e9}", 1), 1);
    }
}
