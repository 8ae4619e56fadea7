//! The library of a prompt: every function by name, those nearest to the task in full.

use luaplan_llm::count_tokens;
use luaplan_vm::LIBRARY_STUBS;

use super::super::library::{LibraryChoice, TASK_WORDS, TOKENS_MAX};

fn choice(words: &str) -> LibraryChoice {
    LibraryChoice::new(LIBRARY_STUBS, words, "")
}

/// `list.map` and `map(items, fn)` of every function.
fn functions() -> Vec<(&'static str, &'static str)> {
    LIBRARY_STUBS
        .lines()
        .filter_map(|line| line.strip_prefix("function ")?.strip_suffix(" end"))
        .filter_map(|call| Some((call.split('(').next()?, call.split_once('.')?.1)))
        .collect()
}

#[test]
fn the_index_names_every_function_with_its_parameters_whatever_the_task() {
    let first = choice("Sum up the orders of each region.");
    let plain = first.index().replace('?', "");
    assert!(functions().len() > 100);
    for (name, call) in functions() {
        assert!(plain.contains(call), "{name}: {call} is not in the index");
    }
    assert!(first.index().contains("sort_by(items, key, direction?)"), "{}", first.index());
    assert!(first.index().contains(
        "`date` (Dates are ISO 8601 text; there is no clock but the start of the run.): now(offset?)"
    ));
    assert!(first.index().contains("`json`: null, decode(text)"));
    assert_eq!(first.index(), choice("Read the CSV file.").index());
    assert_eq!(choice("").index(), first.index());
}

#[test]
fn the_functions_nearest_to_the_task_are_declared_in_full_within_their_budget() {
    let cases = [
        ("The total amount per region, largest first", ["list.sum_by", "list.group_by", "list.sort_by"]),
        ("Import the CSV file and check that every date is valid", ["csv.parse", "date.valid", "csv.encode"]),
        ("Median and average price of each category", ["stats.median", "stats.mean", "list.group_by"]),
        ("Invoices overdue by more than 30 days, with their age", ["date.add", "date.diff", "list.pluck"]),
        (
            "Escape the names for an HTML page and pad the columns",
            ["text.escape_html", "text.pad_left", "list.pluck"],
        ),
    ];
    for (task, wanted) in cases {
        let choice = choice(task);
        for name in wanted {
            assert!(
                choice.declared().contains(&format!("\n{name}(")),
                "{task}: {name} of\n{}",
                choice.declared()
            );
        }
        assert!(count_tokens(choice.declared()) <= TOKENS_MAX, "{task}");
    }
    let declared = choice("Days between two dates").declared().to_owned();
    assert!(
        declared.contains(
            "date.diff(from: string, to: string, unit?: DateUnit days without it): integer -- Whole units"
        ),
        "{declared}"
    );
    assert_eq!(
        declared.matches("---@alias DateUnit ").count(),
        1,
        "a type is declared once, before its use: {declared}"
    );
    assert!(!choice("Trim it").declared().contains("---@alias DateStep") || declared.contains("DateStep"));
}

#[test]
fn functions_of_an_earlier_plan_come_first() {
    let said = "local c = stats.correlation(xs, ys)\nlocal w = text.wrap(s, 40)";
    let choice = LibraryChoice::new(LIBRARY_STUBS, "Sum up the orders of each region.", said);
    assert!(choice.declared().contains("\nstats.correlation(") && choice.declared().contains("\ntext.wrap("));
    assert_eq!(choice.index(), self::choice("").index());
}

#[test]
fn the_words_of_tasks_are_for_functions_that_there_are() {
    let known: Vec<&str> = functions().into_iter().map(|(name, _)| name).chain(["step"]).collect();
    let lines: Vec<&str> = TASK_WORDS.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 40);
    for line in lines {
        let (name, words) = line.split_once(':').unwrap();
        assert!(known.contains(&name.trim_start_matches('+')), "{line}");
        assert!(words.split_whitespace().count() > 0, "{line}");
    }
}

#[test]
fn without_declarations_there_is_no_section() {
    let choice = LibraryChoice::new("", "anything", "");
    assert_eq!((choice.index(), choice.declared()), ("", ""));
}

#[test]
fn steps_are_declared_only_where_the_task_or_the_conversation_asks_for_them() {
    for task in
        ["Load the orders in one step, then mail the sum in a second step", "Three phases: read, check, send"]
    {
        assert!(
            choice(task).declared().contains("\nstep(name: string"),
            "{task}: {}",
            choice(task).declared()
        );
    }
    for task in
        ["Sum up the orders of each region.", "Which payments failed, and are their invoices complete?"]
    {
        assert!(!choice(task).declared().contains("step("), "{task}: {}", choice(task).declared());
    }
    assert!(!choice("step").index().contains("step("), "the index is the same for every task");
    let said = "local sum = step('add up', add_up)";
    assert!(LibraryChoice::new(LIBRARY_STUBS, "Sum up.", said).declared().contains("\nstep("));
}
