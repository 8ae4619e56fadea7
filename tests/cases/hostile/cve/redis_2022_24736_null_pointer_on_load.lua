-- CVE-2022-24736: loading a crafted script read a pointer that was null. Here: scripts that are odd in their first and last tokens, loaded one after the other.
-- generates: source
-- expect: plan_syntax
function run() return "return function(...) local function f(" .. string.rep("...,", 200) end
