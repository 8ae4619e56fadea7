//! The same plan with the same answers does the same in every process: to the byte that it prints,
//! and to the instruction.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// Fresh processes; `LUAPLAN_TEST_PROCESSES` sets another number.
const PROCESSES: usize = 100;
const AT_ONCE: usize = 4;

/// How far apart, in thousandths, the instructions may be at which the memory is used up: tables
/// from which keys are removed grow depending on the seed of their hashes and on addresses.
const MEMORY_SPREAD_PER_MILLE: u64 = 50;

fn is_same(line: &str, expected: &str) -> bool {
    let split = |line: &str| -> Option<(u64, String)> {
        let (name, rest) = line.split_once(": ")?;
        let (number, rest) = rest.split_once(" instructions, ")?;
        let is_cut = name.starts_with("memory_of_") && rest.contains("limit_memory");
        is_cut.then(|| Some((number.parse().ok()?, rest.to_owned())))?
    };
    match (split(line), split(expected)) {
        (Some((count, rest)), Some((expected, expected_rest))) => {
            rest == expected_rest && count.abs_diff(expected) * 1000 <= expected * MEMORY_SPREAD_PER_MILLE
        }
        _ => line == expected,
    }
}

fn one_process(turned_by: usize) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan-test-child"));
    command
        .args(["determinism", &turned_by.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn every_process_prints_the_same_and_counts_the_same() {
    let count = std::env::var_os("LUAPLAN_TEST_PROCESSES")
        .map_or(PROCESSES, |text| text.to_str().unwrap().parse().unwrap());
    let numbers: Vec<usize> = (0..count).collect();
    let mut first: Option<Vec<String>> = None;
    let mut differing = BTreeMap::new();
    for group in numbers.chunks(AT_ONCE) {
        let started: Vec<_> = group.iter().map(|number| one_process(*number).spawn().unwrap()).collect();
        for process in started {
            let output = process.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let lines: Vec<String> = said.lines().map(str::to_owned).collect();
            assert!(output.status.success() && lines.len() > 100, "a process did not report: {output:?}");
            let first = first.get_or_insert_with(|| lines.clone());
            for (place, line) in lines.iter().enumerate() {
                let expected = first.get(place).map_or("(nothing)", String::as_str);
                if !is_same(line, expected) {
                    differing.entry(place).or_insert_with(|| format!("first: {expected}\nlater: {line}"));
                }
            }
            assert_eq!(lines.len(), first.len());
        }
    }
    let first = first.unwrap_or_default();
    for part in 1..=7 {
        let whole = format!("observe: part\t{part}\ttrue");
        assert!(
            first.iter().any(|line| line.starts_with(&whole)),
            "part {part} of observe.lua did not end well"
        );
    }
    let ends: Vec<&String> = first.iter().filter(|line| line.contains(" instructions, ")).collect();
    for kind in ["keys", "texts", "objects"] {
        let name = format!("memory_of_{kind}: ");
        assert!(
            ends.iter().any(|line| line.starts_with(&name) && line.contains("limit_memory")),
            "{ends:#?}"
        );
    }
    eprintln!(
        "{count} processes, {} lines each\n{}",
        first.len(),
        ends.iter().map(|line| &line[..line.len().min(160)]).collect::<Vec<_>>().join("\n")
    );
    let told: Vec<&String> = differing.values().take(10).collect();
    assert!(told.is_empty(), "{} lines differ, for example\n{told:#?}", differing.len());
}
