mod compare;
mod generate;
mod hostile_strings;
mod pattern_cases;
mod patterns;
mod prelude_patterns;
mod sorting;
mod strings;
