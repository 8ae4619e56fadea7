//! What goes through the pipe of a worker process, without the processes.

#[path = "../../src/workers/value_codec.rs"]
mod value_codec;
#[path = "../../src/workers/frame.rs"]
mod frame;
#[path = "../../src/workers/message.rs"]
mod message;

/// A confinement as it is sent; laying one is not for a fuzzed process.
mod confine {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Default, Serialize, Deserialize)]
    pub struct ConfinementLayer {
        name: String,
        is_in_force: bool,
        detail: String,
    }

    #[derive(Debug, Clone, Default, Serialize, Deserialize)]
    pub struct Confinement {
        layers: Vec<ConfinementLayer>,
    }
}

use serde::Serialize;
use serde::de::DeserializeOwned;

fn again<T: Serialize + DeserializeOwned>(message: &T) {
    const HEAD_BYTES: usize = 4;
    let Ok(frame) = message::encode(message, frame::FRAME_BYTES_MAX) else { return };
    let read: T = message::decode(&frame[HEAD_BYTES..]).expect("what was written can be read");
    let rewritten = message::encode(&read, frame::FRAME_BYTES_MAX).expect("what was read can be written");
    assert_eq!(frame, rewritten);
}

/// Reads a body as every message there is; what makes sense is the same again when written.
pub fn read_body(body: &[u8]) {
    if let Ok(message) = message::decode::<message::FromWorker>(body) {
        again(&message);
        if let message::FromWorker::Done { result: message::Ended::Broke(fault), .. } = message {
            let _ = fault.into_error();
        }
    }
    if let Ok(message) = message::decode::<message::ToWorker>(body) {
        again(&message);
    }
    if let Ok(message) = message::decode_first::<message::Hello>(body) {
        again(&message);
    }
    if let Ok(message) = message::decode_first::<message::Prepare>(body) {
        again(&message);
    }
}

/// Reads the frames of a stream until one is refused; none is longer than agreed.
pub fn read_stream(mut stream: &[u8], limit_bytes: u64) {
    let mut body = Vec::new();
    while frame::read(&mut stream, limit_bytes, &mut body).is_ok() {
        assert!(body.len() as u64 <= limit_bytes);
        read_body(&body);
    }
}
