//! The worker's end of the socket: whole requests in, whole replies out. Knows frames only.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use case::frame::{self, Decoder};
use case::{Reply, Request};

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// A blocking duplex channel.
pub(crate) struct Channel {
    stream: UnixStream,
    decoder: Decoder,
}

impl Channel {
    /// The socket that the supervisor gave as standard input; stdout and stderr belong to the libraries.
    pub(crate) fn from_stdin() -> io::Result<Self> {
        let owned = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self { stream: UnixStream::from(owned), decoder: Decoder::default() })
    }

    /// The next request; `None` when the supervisor has closed its end.
    pub(crate) fn receive(&mut self) -> io::Result<Option<Request>> {
        let mut chunk = vec![0_u8; CHUNK_BYTES];
        loop {
            if let Some(request) = self.decoder.next().map_err(io::Error::other)? {
                return Ok(Some(request));
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(count) => self.decoder.push(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a reply whole.
    pub(crate) fn send(&mut self, reply: &Reply) -> io::Result<()> {
        let bytes = frame::encode(reply).map_err(io::Error::other)?;
        self.stream.write_all(&bytes)
    }
}
