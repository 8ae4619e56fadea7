//! Any text as a manifest: it is refused, or it makes a tool that can be shown and called.
#![no_main]

use libfuzzer_sys::fuzz_target;
use luaplan::base::{CallArguments, LimitProfile, Value};
use luaplan::catalog::{Catalog, read_manifest, stubs};
use luaplan::plan::check;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let spec = match read_manifest(&text, "tools/tool.toml") {
        Ok(spec) => spec,
        Err(error) => {
            assert!(!error.message().is_empty());
            return;
        }
    };
    let _ = spec.to_json();
    let object = Value::from_json_text(r#"{"a":1,"b":[true,null],"id":"x","limit":10}"#).expect("JSON");
    for arguments in [vec![], vec![object], vec![Value::Null, Value::Integer(1), Value::from_lua_bytes("x")]]
    {
        let _ = spec.bind(&CallArguments(arguments));
    }
    let name = spec.name.clone();
    let mut catalog = Catalog::default();
    catalog.insert(spec);
    let stubs = stubs(&catalog);
    // A stub is Lua, whatever the manifest says: description, names and defaults cannot break out.
    let plan = format!("{stubs}\nfunction run() end\n");
    let report = check(&plan, "stubs.lua", &Catalog::default(), &LimitProfile::Generous.limits());
    let broken: Vec<_> = report.errors().filter(|finding| finding.code.as_str() == "plan_syntax").collect();
    assert!(broken.is_empty(), "the stub of {name} is no Lua: {broken:?}\n{stubs}");
});
