//! The library's declarations, split so that each can be left out.

use super::super::library::split;

#[test]
fn declarations_are_split_by_library_in_order() {
    let stubs = "---The plan library.\n\njson = {}\n\n---@return string\nfunction json.encode(v) end\n\n\
                 ---@class date\ndate = {}\n\nfunction date.add(d) end\n\n---Rounds.\nfunction math.round(x) end\n\n\
                 function json.decode(s) end\n";
    let libraries = split(stubs);
    let names: Vec<&str> = libraries.iter().map(|library| library.name.as_str()).collect();
    assert_eq!(names, ["general", "json", "date", "math"]);
    assert!(libraries[1].text.contains("encode") && libraries[1].text.contains("decode"));
    let kept: String = libraries.iter().map(|library| library.text.as_str()).collect();
    for word in stubs.split_whitespace() {
        assert!(kept.contains(word), "{word} is lost");
    }
    assert!(split("").is_empty());
}

#[test]
fn the_shipped_library_is_split_into_its_files() {
    use luaplan_vm::{LIBRARY_STUB_FILES, LIBRARY_STUBS};
    let names: Vec<String> = split(LIBRARY_STUBS).into_iter().map(|library| library.name).collect();
    let files: Vec<&str> = LIBRARY_STUB_FILES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, files);
}
