//! The plan library's declarations, in pieces that a prompt can omit one by one.

/// The declarations of one library.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LibraryStub {
    pub(super) name: String,
    pub(super) text: String,
}

/// Splits declarations into libraries, in their order.
///
/// A block (lines up to an empty one) belongs to the library its first `function NAME.x`,
/// `NAME = {}` or `---@class NAME` names; a block that names none goes with the one before.
pub(super) fn split(stubs: &str) -> Vec<LibraryStub> {
    let mut libraries: Vec<LibraryStub> = Vec::new();
    let text = stubs.replace("\r\n", "\n");
    for block in text.split("\n\n").map(str::trim).filter(|block| !block.is_empty()) {
        let name = block.lines().find_map(declared);
        let current = match name {
            Some(name) => libraries.iter().position(|library| library.name == name),
            None => libraries.len().checked_sub(1),
        };
        match current.and_then(|index| libraries.get_mut(index)) {
            Some(library) => {
                library.text.push_str("\n\n");
                library.text.push_str(block);
            }
            None => libraries
                .push(LibraryStub { name: name.unwrap_or("general").to_owned(), text: block.to_owned() }),
        }
    }
    libraries
}

fn declared(line: &str) -> Option<&str> {
    let line = line.strip_prefix("local ").unwrap_or(line);
    let rest = match line.strip_prefix("function ") {
        Some(rest) => rest,
        None if line.ends_with("= {}") => line,
        None => line.strip_prefix("---@class ")?,
    };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty())
}
