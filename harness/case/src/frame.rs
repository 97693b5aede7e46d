//! Frames between supervisor and worker: a little-endian u32 length, then so many bytes of JSON. Knows bytes
//! only; both sides do their own reading and writing.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Most bytes of JSON in one frame. Far above any answer, low enough that a corrupt length does no harm.
pub const FRAME_BYTES_MAX: usize = 16 << 20;

/// Bytes of the length before each frame.
const LENGTH_BYTES: usize = 4;

/// Why bytes are no frame. Nothing after it can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The length is above `FRAME_BYTES_MAX`.
    #[error("a frame of {0} bytes is above the limit of {FRAME_BYTES_MAX}")]
    Oversize(usize),
    /// The bytes are no JSON of the message expected.
    #[error("a frame holds no message: {0}")]
    Message(#[from] serde_json::Error),
}

/// The frame of a message, ready to be written.
///
/// # Errors
/// `Oversize` where its JSON exceeds the limit, `Message` where it has no JSON form.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FrameError> {
    let mut bytes = vec![0_u8; LENGTH_BYTES];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - LENGTH_BYTES;
    let word = u32::try_from(length).ok().filter(|_| length <= FRAME_BYTES_MAX);
    bytes[..LENGTH_BYTES].copy_from_slice(&word.ok_or(FrameError::Oversize(length))?.to_le_bytes());
    Ok(bytes)
}

/// Takes bytes as they come and gives back whole messages in order.
#[derive(Debug, Default)]
pub struct Decoder {
    bytes: Vec<u8>,
    /// Bytes at the front that earlier messages took.
    taken: usize,
}

impl Decoder {
    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message; `None` until more bytes are pushed.
    ///
    /// # Errors
    /// `Oversize` as soon as a length exceeds the limit, `Message` for a whole frame that is no `T`.
    #[expect(
        clippy::should_implement_trait,
        reason = "generic over the message, so it cannot be an iterator"
    )]
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FrameError> {
        let waiting = &self.bytes[self.taken..];
        let Some((word, rest)) = waiting.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        // A length that usize cannot hold is above the limit all the same.
        let length = usize::try_from(u32::from_le_bytes(*word)).unwrap_or(usize::MAX);
        if length > FRAME_BYTES_MAX {
            return Err(FrameError::Oversize(length));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let message = serde_json::from_slice(body)?;
        self.taken += LENGTH_BYTES + length;
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests;
