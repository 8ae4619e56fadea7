//! Frames: four bytes of length, little-endian, then so many bytes. A side reads only announced bytes,
//! and a frame above the cap is refused.

use std::io::{self, Read, Write};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The most bytes any frame may have, whatever a run's own cap is.
pub(super) const FRAME_BYTES_MAX: u64 = 1 << 30;

const LENGTH_BYTES: usize = 4;

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameFault {
    /// The other side is gone, at a frame's border or in the middle of one.
    #[error("the pipe was closed")]
    Closed,
    /// Longer than agreed.
    #[error("a frame of {announced} bytes was announced, {limit} are the most")]
    TooLong { announced: u64, limit: u64 },
    /// The pipe failed.
    #[error("the pipe failed: {0}")]
    Pipe(io::Error),
}

impl From<io::Error> for FrameFault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                Self::Closed
            }
            _ => Self::Pipe(error),
        }
    }
}

/// A new frame, with room for the length in front, so that length and body go out in one write.
pub(super) fn begin() -> Vec<u8> {
    vec![0; LENGTH_BYTES]
}

/// Writes the length into a frame made by [`begin`].
///
/// # Errors
/// [`FrameFault::TooLong`] above `limit_bytes`.
pub(super) fn finish(frame: &mut [u8], limit_bytes: u64) -> Result<(), FrameFault> {
    let body_bytes = (frame.len().saturating_sub(LENGTH_BYTES)) as u64;
    let limit = limit_bytes.min(FRAME_BYTES_MAX);
    match (u32::try_from(body_bytes), frame.first_chunk_mut::<LENGTH_BYTES>()) {
        (Ok(length), Some(head)) if body_bytes <= limit => {
            *head = length.to_le_bytes();
            Ok(())
        }
        _ => Err(FrameFault::TooLong { announced: body_bytes, limit }),
    }
}

fn announced(head: [u8; LENGTH_BYTES], limit_bytes: u64) -> Result<usize, FrameFault> {
    let announced = u32::from_le_bytes(head);
    let limit = limit_bytes.min(FRAME_BYTES_MAX);
    if u64::from(announced) > limit {
        return Err(FrameFault::TooLong { announced: announced.into(), limit });
    }
    Ok(announced as usize)
}

/// The most bytes that are allocated before they arrive, so that an announcement alone costs no more.
const ROOM_BYTES: usize = 1 << 20;

/// Reads the body of one frame into `body`, on the worker's side.
///
/// # Errors
/// [`FrameFault`].
pub(super) fn read(from: &mut impl Read, limit_bytes: u64, body: &mut Vec<u8>) -> Result<(), FrameFault> {
    let mut head = [0; LENGTH_BYTES];
    from.read_exact(&mut head)?;
    let length = announced(head, limit_bytes)?;
    body.clear();
    body.reserve(length.min(ROOM_BYTES));
    let read = from.by_ref().take(length as u64).read_to_end(body)?;
    if read == length { Ok(()) } else { Err(FrameFault::Closed) }
}

/// Writes a finished frame, on the worker's side.
///
/// # Errors
/// [`FrameFault`].
pub(super) fn write(to: &mut impl Write, frame: &[u8]) -> Result<(), FrameFault> {
    to.write_all(frame)?;
    Ok(to.flush()?)
}

/// Reads the body of one frame into `body`, on the host's side. Not cancel-safe: after a cancellation the
/// worker is unusable.
///
/// # Errors
/// [`FrameFault`].
pub(super) async fn read_async(
    from: &mut (impl AsyncRead + Unpin),
    limit_bytes: u64,
    body: &mut Vec<u8>,
) -> Result<(), FrameFault> {
    let mut head = [0; LENGTH_BYTES];
    from.read_exact(&mut head).await?;
    let length = announced(head, limit_bytes)?;
    body.clear();
    body.reserve(length.min(ROOM_BYTES));
    let read = from.take(length as u64).read_to_end(body).await?;
    if read == length { Ok(()) } else { Err(FrameFault::Closed) }
}

/// Writes a finished frame, on the host's side.
///
/// # Errors
/// [`FrameFault`].
pub(super) async fn write_async(to: &mut (impl AsyncWrite + Unpin), frame: &[u8]) -> Result<(), FrameFault> {
    to.write_all(frame).await?;
    Ok(to.flush().await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_and_caps_hold_on_both_sides() {
        let mut frame = begin();
        frame.extend_from_slice(b"hello");
        finish(&mut frame, 5).unwrap();
        let mut body = Vec::new();
        read(&mut frame.as_slice(), 5, &mut body).unwrap();
        assert_eq!(body, b"hello");
        assert!(matches!(
            read(&mut frame.as_slice(), 4, &mut body),
            Err(FrameFault::TooLong { announced: 5, limit: 4 })
        ));
        assert!(matches!(finish(&mut frame, 4), Err(FrameFault::TooLong { announced: 5, limit: 4 })));
    }

    #[test]
    fn a_frame_cut_anywhere_is_a_closed_pipe() {
        let mut frame = begin();
        frame.extend_from_slice(b"hello");
        finish(&mut frame, 100).unwrap();
        for cut in 0..frame.len() {
            let mut body = Vec::new();
            let seen = read(&mut &frame[..cut], 100, &mut body);
            assert!(matches!(seen, Err(FrameFault::Closed)), "{cut}: {seen:?}");
        }
    }

    #[tokio::test]
    async fn the_side_that_waits_reads_the_same() {
        let mut frame = begin();
        frame.extend_from_slice(&[7; 100_000]);
        finish(&mut frame, 100_000).unwrap();
        let mut body = Vec::new();
        read_async(&mut frame.as_slice(), 100_000, &mut body).await.unwrap();
        assert_eq!(body.len(), 100_000);
        let seen = read_async(&mut &frame[..50], 100_000, &mut body).await;
        assert!(matches!(seen, Err(FrameFault::Closed)));
    }
}
