//! What stands for the typed check in a build without the feature `types`: each check says that there was none, as its
//! verdict depends on it.

use emmylua_parser::LuaChunk;

use luaplan_base::ErrorCode;

use super::check::ArgumentShape;
use super::input::CheckInput;
use super::report::Report;
use crate::names::calls::Calls;
use crate::names::found::Walk;

pub(super) fn judge(
    _: &LuaChunk,
    _: &CheckInput<'_>,
    _: &Walk,
    _: &Calls,
    _: &mut Report<'_>,
) -> Vec<ArgumentShape> {
    Vec::new()
}

/// That nothing was inferred. Said after comments that allow were looked at: no plan may hide it.
pub(super) fn note(report: &mut Report<'_>) {
    let message = "this build of luaplan infers no types, so only names and literals were checked";
    let help = "check the plan with a build that has the feature `types`, as releases have";
    report.warning(ErrorCode::PlanTypesNotBuilt, (0, 0), message.to_owned(), help.to_owned());
}

#[cfg(test)]
mod tests {
    use luaplan_base::LimitProfile;
    use luaplan_catalog::Catalog;

    use crate::check;

    #[test]
    fn every_check_says_that_no_types_were_inferred() {
        let allowing = "-- luaplan: allow(plan_types_not_built) as it is\nfunction run() return 1 end";
        for (source, is_ok) in [
            ("function run() return 1 end", true),
            (allowing, true),
            ("function run() return x.y end", false),
            ("run(", false),
        ] {
            let report = check(source, "plan", &Catalog::default(), &LimitProfile::Strict.limits());
            let said = report.findings.iter().filter(|finding| finding.code == "plan_types_not_built");
            assert_eq!((said.count(), report.is_ok()), (1, is_ok), "{source}: {:?}", report.findings);
        }
    }
}
