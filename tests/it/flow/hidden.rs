//! Calls behind metatables of metatables are announced, by name or as anything.

use std::collections::BTreeMap;

use luaplan::base::LimitProfile;
use luaplan::catalog::{Catalog, TargetKind, builtin_manifests};
use luaplan::plan::check;
use luaplan::plan::preview::{PreviewOptions, preview};

const SEND: &str = "local r = send_email{to = 'x@example.com', subject = 's', body = 'b'} if r.error then error(r.error) end";

/// Each sends a mail to `x@example.com` when it runs; `SEND` stands for [`SEND`].
const PLANS: [&str; 12] = [
    "local t = setmetatable({}, {__index = setmetatable({}, {__index = function() SEND return 1 end})}) print(t.foo)",
    "local t = setmetatable({}, {__newindex = setmetatable({}, {__newindex = function() SEND end})}) t.foo = 1",
    "local c = setmetatable({}, {__call = function() SEND return 1 end}) local t = setmetatable({}, {__add = c}) print(t + 1)",
    "local t = setmetatable({}, {__call = setmetatable({}, {__call = function() SEND end})}) t(1)",
    "local c = setmetatable({}, {__index = function() SEND return 'y' end}) print(table.unpack(c, 1, 1))",
    "local c = setmetatable({1}, {__len = function() SEND return 1 end}) print(table.unpack(c))",
    "local a = setmetatable({}, {__index = setmetatable({}, {__index = function() return 'x@example.com' end})}) \
     local r = send_email{to = a.x or 'ok@example.com', subject = 's', body = 'b'} print(r.error)",
    "local to = table.unpack(setmetatable({}, {__index = function() return 'x@example.com' end}), 1, 1) \
     local r = send_email{to = to or 'ok@example.com', subject = 's', body = 'b'} print(r.error)",
    "local t = {} t[function() SEND end] = 1 for f in pairs(t) do f() end",
    "for _, to in ipairs(setmetatable({}, {__index = {'x@example.com'}})) do \
     local r = send_email{to = to, subject = 's', body = 'b'} print(r.error) end",
    "local by_name = list.group_by({'x@example.com'}, function(name) return name end) for to in pairs(by_name) do \
     local r = send_email{to = to, subject = 's', body = 'b'} print(r.error) end",
    "list.each(list.sort_by({function() SEND end}, function() return 1 end), function(f) f() end)",
];

#[test]
fn a_mail_behind_a_metatable_is_announced() {
    let catalog: Catalog = builtin_manifests().unwrap().into_iter().collect();
    let limits = LimitProfile::Standard.limits();
    for body in PLANS {
        let source = format!("function run(context) {} return {{}} end", body.replace("SEND", SEND));
        let report = check(&source, "plan", &catalog, &limits);
        let plan = report.plan.unwrap_or_else(|| panic!("{source}: {:?}", report.findings));
        let always = BTreeMap::new();
        let options =
            PreviewOptions { tool_calls_max: limits.tool_calls, context: None, always: &always, agents: &[] };
        let said = preview(&plan, &catalog, options);
        assert!(said.announces("send_email", TargetKind::Recipient, "x@example.com"), "{source}");
    }
}

#[test]
fn classes_that_inherit_are_followed_and_not_given_up() {
    let catalog: Catalog = builtin_manifests().unwrap().into_iter().collect();
    let limits = LimitProfile::Standard.limits();
    let source = "local Base = {} Base.__index = Base function Base:double() return self.x * 2 end \
        local Derived = setmetatable({}, {__index = Base}) Derived.__index = Derived \
        function Derived.new(x) return setmetatable({x = x}, Derived) end \
        function run(context) local r = send_email{to = 'ok@example.com', subject = 's', \
        body = tostring(Derived.new(3):double())} return {ok = r.error == nil} end";
    let plan = check(source, "plan", &catalog, &limits).plan.unwrap();
    let always = BTreeMap::new();
    let options =
        PreviewOptions { tool_calls_max: limits.tool_calls, context: None, always: &always, agents: &[] };
    let said = preview(&plan, &catalog, options);
    assert!(!said.gave_up && !said.announces("send_email", TargetKind::Recipient, "x@example.com"));
}
