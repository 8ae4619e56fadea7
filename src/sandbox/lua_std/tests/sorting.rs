//! Sorting and joining: right, stable, charged, and stopped when told.

use std::time::Duration;

use super::compare::{Budget, Random};
use super::hostile_strings::cpu_time;
use crate::lua_std::number::Number;
use crate::lua_std::sort::{Comparisons, number_less, sort};
use crate::lua_std::{Arg, NativeError, concat};
use crate::vm::meter::Dead;

fn unlimited() -> Budget {
    Budget::new(u64::MAX, u64::MAX)
}

#[test]
fn items_come_in_order_and_equal_ones_stay_as_they_were() {
    let mut random = Random::new(1);
    for length in (0..70).chain([1000, 4097]) {
        let mut items: Vec<(usize, usize)> = (0..length).map(|place| (random.below(12), place)).collect();
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.0);
        sort(&mut items, |left, right| Ok::<_, ()>(left.0 < right.0)).unwrap();
        assert_eq!(items, expected, "{length} items");
    }
}

#[test]
fn what_is_in_order_takes_one_comparison_an_item() {
    let mut items: Vec<u32> = (0..10_000).collect();
    let mut comparisons = 0;
    sort(&mut items, |left, right| {
        comparisons += 1;
        Ok::<_, ()>(left < right)
    })
    .unwrap();
    assert!(comparisons < 12_000, "{comparisons}");
}

#[test]
fn an_order_that_contradicts_itself_ends() {
    let mut random = Random::new(2);
    let mut items: Vec<u32> = (0..1000).collect();
    sort(&mut items, |_, _| Ok::<_, ()>(random.one_in(2))).unwrap();
    items.sort_unstable();
    assert!(items.iter().copied().eq(0..1000), "items were lost");
}

#[test]
fn a_failing_comparison_ends_the_sort() {
    let mut items: Vec<u32> = (0..1000).rev().collect();
    let mut left = 50;
    let ended = sort(&mut items, |a, b| {
        left -= 1;
        if left == 0 { Err("enough") } else { Ok(a < b) }
    });
    assert_eq!(ended, Err("enough"));
}

#[test]
fn numbers_are_compared_exactly() {
    use Number::{Float, Integer};
    let big = 9_007_199_254_740_992_i64;
    let ordered = [
        Float(f64::NEG_INFINITY),
        Integer(i64::MIN),
        Float(-1.5),
        Integer(-1),
        Float(-0.5),
        Integer(0),
        Float(0.5),
        Float(big as f64),
        Integer(big + 1),
        Integer(i64::MAX),
        Float(9_223_372_036_854_775_808.0),
        Float(f64::INFINITY),
    ];
    for (place, left) in ordered.iter().enumerate() {
        for (other, right) in ordered.iter().enumerate() {
            assert_eq!(number_less(*left, *right), place < other, "{left:?} {right:?}");
        }
        for nan in [Float(f64::NAN), Float(-f64::NAN)] {
            assert!(!number_less(*left, nan) && !number_less(nan, *left));
        }
    }
    for (left, right) in [(Integer(i64::MIN), Float(-9_223_372_036_854_775_808.0)), (Float(0.0), Float(-0.0))]
    {
        assert!(!number_less(left, right) && !number_less(right, left), "{left:?} {right:?}");
    }
}

#[test]
fn texts_are_compared_byte_by_byte() {
    let long = vec![b'x'; 10_000];
    let longer = [&long[..], b"\0"].concat();
    let mut other = long.clone();
    other[9_000] = b'y';
    let ordered: [&[u8]; 8] = [b"", b"\0", b"a", b"a\0", b"a\0b", b"a\x01", &long, &longer];
    let meter = unlimited();
    let mut comparisons = Comparisons::charged_to(&meter);
    for (place, left) in ordered.iter().enumerate() {
        for (behind, right) in ordered.iter().enumerate() {
            assert_eq!(comparisons.text_less(left, right), Ok(place < behind), "{left:?} {right:?}");
        }
    }
    assert_eq!(comparisons.text_less(&long, &other), Ok(true));
    assert_eq!(comparisons.text_less(&other, &long), Ok(false));
}

#[test]
fn a_million_equal_long_texts_stop_at_the_budget() {
    let text = vec![b'x'; 1 << 20];
    let mut items = vec![&text[..]; 1_000_000];
    let meter = Budget::new(2_000_000, u64::MAX);
    let mut comparisons = Comparisons::charged_to(&meter);
    let began = cpu_time();
    let ended = sort(&mut items, |left, right| comparisons.text_less(left, right));
    assert_eq!(ended, Err(Dead));
    let took = cpu_time() - began;
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn every_comparison_is_charged() {
    let mut random = Random::new(3);
    let mut items: Vec<Number> = (0..10_000).map(|_| Number::Integer(random.next().cast_signed())).collect();
    let meter = unlimited();
    let mut comparisons = Comparisons::charged_to(&meter);
    let mut compared = 0;
    sort(&mut items, |left, right| {
        compared += 1;
        comparisons.number_less(*left, *right)
    })
    .unwrap();
    comparisons.settle().unwrap();
    assert_eq!(meter.instructions.get(), compared);
}

#[test]
fn joining_writes_numbers_as_lua_does_and_names_what_it_cannot_join() {
    let items = [Arg::Text(b"a"), Arg::Integer(-3), Arg::Number(1.0), Arg::Number(0.1), Arg::Text(b"\0")];
    let mut joined = b"before".to_vec();
    concat::join(&items, b", ", 1, &unlimited(), &mut joined).unwrap();
    assert_eq!(joined, b"beforea, -3, 1.0, 0.1, \0");

    let items = [Arg::Text(b"a"), Arg::Boolean(true)];
    let ended = concat::join(&items, b"", i64::MAX - 1, &unlimited(), &mut joined);
    let message = "invalid value (boolean) at index 9223372036854775807 in table for 'concat'";
    assert_eq!(ended, Err(NativeError::Message(message.to_owned())));
}

#[test]
fn joining_what_cannot_fit_stops_before_anything_is_built() {
    let text = vec![b'x'; 1 << 20];
    let items = vec![Arg::Text(&text); 1000];
    let mut joined = Vec::new();
    let ended = concat::join(&items, b"", 1, &Budget::new(u64::MAX, 64 << 20), &mut joined);
    assert_eq!(ended, Err(NativeError::Dead));
    assert_eq!(joined.capacity(), 0);
}
