//! SHA-256 of files, and how hashes are written. Knows bytes; knows no library.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The hash of a file's content in hexadecimal digits.
pub(crate) fn sha256(mut file: File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut chunk = vec![0_u8; 1 << 20];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            count => hash.update(&chunk[..count]),
        }
    }
}

/// Bytes in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hexadecimal digits of a hash that a wheel's record writes in base64 for URLs, without its padding.
pub(crate) fn of_record(text: &str) -> Option<String> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bits = Vec::with_capacity(text.len() * 6);
    for byte in text.trim_end_matches('=').bytes().take(64) {
        let value = DIGITS.iter().position(|digit| *digit == byte)?;
        bits.extend((0..6).rev().map(|bit| value >> bit & 1 == 1));
    }
    let whole = bits.chunks_exact(8).map(|byte| byte.iter().fold(0_u8, |sum, bit| sum << 1 | u8::from(*bit)));
    Some(hexadecimal(&whole.collect::<Vec<u8>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_writes_the_same_hash_in_another_alphabet() {
        // SHA-256 of "abc".
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_record("ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0").as_deref(), Some(of_abc));
        assert_eq!(of_record("!"), None);
    }
}
