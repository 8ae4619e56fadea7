//! Plan: the lists of names, and places in the source.

mod parameters;
mod shape;

use luaplan_base::LimitProfile;
use luaplan_catalog::Catalog;

use super::*;

#[test]
fn no_name_is_both_allowed_and_forbidden() {
    for (name, _) in globals::FORBIDDEN {
        assert!(!globals::is_allowed(name), "{name}");
    }
    for (name, member, _) in globals::FORBIDDEN_MEMBERS {
        let members = globals::library_members(name).unwrap_or_default();
        assert!(!members.contains(&member), "{name}.{member}");
    }
    let mut names: Vec<&str> = globals::all().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), globals::all().count(), "a name is listed twice");
}

#[test]
fn a_member_has_its_own_advice_and_falls_back_to_its_library() {
    assert!(globals::instead_of("os", Some("date")).unwrap().contains("`date` library"));
    assert_eq!(globals::instead_of("os", Some("rename")), globals::instead_of("os", None));
    assert_eq!(globals::instead_of("string", Some("format")), None);
}

#[test]
fn the_same_plan_gives_the_same_findings_in_the_order_of_the_source() {
    let source = "helper_two() helper_one() x = aa + bb function run() return cc() + os.time() end";
    let limits = LimitProfile::Standard.limits();
    let first = check(source, "plan", &Catalog::default(), &limits).findings;
    assert_eq!(first.len(), 6);
    assert!(first.is_sorted_by_key(|finding| finding.span));
    for _ in 0..20 {
        assert_eq!(check(source, "plan", &Catalog::default(), &limits).findings, first);
    }
}

#[test]
fn without_tools_the_advice_is_to_define_the_function() {
    let report =
        check("function run() launch() end", "plan", &Catalog::default(), &LimitProfile::Strict.limits());
    assert_eq!(report.findings[0].help, "no tools are enabled; define the function in the plan");
    assert!(!report.is_ok());
}
