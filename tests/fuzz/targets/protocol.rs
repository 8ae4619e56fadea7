//! Any bytes from the other side of a worker's pipe: refused, or the same again when encoded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use luaplan::workers::{read_body, read_stream};

const LIMIT_BYTES: u64 = 4096;

fuzz_target!(|data: &[u8]| {
    read_body(data);
    read_stream(data, LIMIT_BYTES);
});
