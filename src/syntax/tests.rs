//! Places in a source.

use super::Lines;

#[test]
fn places_are_counted_in_lines_and_characters() {
    let lines = Lines::new("a\n  bé = 1\r\n\nend");
    let cases = [(0, 1, 1), (1, 1, 2), (2, 2, 1), (4, 2, 3), (7, 2, 5), (13, 3, 1), (14, 4, 1), (17, 4, 4)];
    for (offset, line, column) in cases {
        assert_eq!((lines.line(offset), lines.column(offset)), (line, column), "offset {offset}");
    }
    assert_eq!(lines.indent(4), (2, true));
    assert_eq!(lines.indent(5), (2, false));
}
