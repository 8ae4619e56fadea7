use emmylua_parser::{LuaLanguageLevel, LuaParser, ParserConfig};
use serde_json::json;

use super::*;

fn assert_lua(text: &str) {
    let tree = LuaParser::parse(text, ParserConfig::with_level(LuaLanguageLevel::Lua54));
    assert_eq!(tree.get_errors(), [], "in:\n{text}");
}

#[test]
fn a_stub_shows_names_order_types_and_effect() {
    let stub = fixtures().get("send_note").unwrap().stub();
    let expected = r#"---@class send_note.result
---@field id string
---@field sent_at? string ISO time
---@class send_note.params
---@field to string|string[] who gets it
---@field subject string
---@field body? string text or bytes
---@field files? table<string, string>
---@field format? "html"|"text" (default "text")
---@field copies? integer (1 to 9)
---Sends a short note.
---The receipt says when it left.
---Effect: send; not safe to repeat.
---@overload fun(to: string|string[], subject: string, body?: string, files?: table<string, string>, format?: "html"|"text", copies?: integer): send_note.result|ToolError
---@param params send_note.params
---@return send_note.result|ToolError
function send_note(params) end
"#;
    assert_eq!(stub, expected);
}

#[test]
fn all_stubs_together_are_valid_lua() {
    let text = stubs(&fixtures());
    assert_lua(&text);
    assert!(text.starts_with("---What a failed call returns"));
    assert!(text.contains("\ndesk = {}\n"), "a server is a table");
    assert!(text.contains("---@field [\"end\"]? string last day"), "a Lua word is no bare name");
    assert!(text.contains("fun(query: string, _end?: string): desk.search.result[]|ToolError"));
    assert!(text.contains("---@field tags? (string|nil)[]"));
    assert!(text.contains("---@return table<string, any>[]|ToolError\nfunction find_rows(params) end"));
    assert!(text.contains("---@return any|ToolError\nfunction list_days() end"));
}

#[test]
fn a_description_from_elsewhere_cannot_leave_its_comment() {
    let mut spec = (**fixtures().get("desk.search").unwrap()).clone();
    spec.description = "One.\r\nos.exit()\u{2028}\nx\rdo_harm()".to_owned();
    spec.params = json!({"type": "object", "properties": {
        "a\nb": {"type": "string", "description": "x\ny = 1"},
        "c": {"enum": ["\"]]\n", 1, null]},
    }});
    let text = spec.stub();
    assert_lua(&text);
    for line in text.lines() {
        assert!(line.starts_with("---") || line == "function desk.search(params) end", "{line}");
    }
    assert!(!text.contains('\r'));
}
