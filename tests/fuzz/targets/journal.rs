//! Any line as a record of the journal: refused, or the same again when written and read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use luaplan::journal::{
    Event, GENESIS_HASH, RECORD_VERSION, Record, Redactor, RunState, neutralize, record_hash, write_csv,
};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let shown = neutralize(&text);
    assert_eq!(neutralize(&shown), shown, "making text harmless twice changes it");
    let mut previous_hash = GENESIS_HASH.to_owned();
    let mut records = Vec::new();
    let redactor = Redactor::new(vec!["secret-key-123".to_owned()]);
    for line in text.lines().take(50) {
        let Ok(event) = serde_json::from_str::<Event>(line) else { continue };
        let body = serde_json::to_string(&event).expect("an event that was read can be written");
        let again: Event = serde_json::from_str(&body).expect("an event that was written can be read");
        let rewritten = serde_json::to_string(&again).expect("and written again");
        assert_eq!(body, rewritten);
        let mut redacted = event.clone();
        redactor.event(&mut redacted.body);
        let kept = serde_json::to_string(&redacted).expect("a redacted event can be written");
        assert!(!kept.contains("secret-key-123"), "a secret was kept: {kept}");
        let sequence = records.len() as u64 + 1;
        let hash = record_hash(&previous_hash, sequence, RECORD_VERSION, body.as_bytes());
        assert_ne!(hash, record_hash(&previous_hash, sequence + 1, RECORD_VERSION, body.as_bytes()));
        records.push(Record { sequence, version: RECORD_VERSION, previous_hash, hash: hash.clone(), event });
        previous_hash = hash;
    }
    if let Some(state) = RunState::fold(&records) {
        let _ = (state.summary(), state.calls_in_doubt().count());
    }
    let mut csv = Vec::new();
    write_csv(&records, &mut csv).expect("records have a CSV form");
});
