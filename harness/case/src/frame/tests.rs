//! Frames survive any split of the stream, and bad lengths and bodies are refused.

use super::{Decoder, FRAME_BYTES_MAX, FrameError, encode};
use crate::trial::Request;

fn stream() -> Vec<u8> {
    [Request::Inventory, Request::SelfTest, Request::Quit].iter().flat_map(|r| encode(r).unwrap()).collect()
}

#[test]
fn messages_come_out_whole_and_in_order_however_the_stream_is_cut() {
    let bytes = stream();
    for size in 1..=bytes.len() {
        let mut decoder = Decoder::default();
        let mut messages = Vec::new();
        for chunk in bytes.chunks(size) {
            decoder.push(chunk);
            while let Some(message) = decoder.next::<Request>().unwrap() {
                messages.push(message);
            }
        }
        assert_eq!(
            messages,
            [Request::Inventory, Request::SelfTest, Request::Quit],
            "cut every {size} bytes"
        );
    }
}

#[test]
fn a_length_above_the_limit_is_refused_before_its_body_arrives() {
    let mut decoder = Decoder::default();
    decoder.push(&u32::MAX.to_le_bytes());
    assert!(matches!(decoder.next::<Request>(), Err(FrameError::Oversize(_))));
    let mut decoder = Decoder::default();
    decoder.push(&u32::try_from(FRAME_BYTES_MAX).unwrap().to_le_bytes());
    assert!(matches!(decoder.next::<Request>(), Ok(None)), "the limit itself is allowed");
}

#[test]
fn a_body_that_is_no_message_is_refused() {
    let mut decoder = Decoder::default();
    decoder.push(&[2, 0, 0, 0, b'{', b'}']);
    assert!(matches!(decoder.next::<Request>(), Err(FrameError::Message(_))));
}

#[test]
fn a_message_above_the_limit_is_not_encoded() {
    let text = "x".repeat(FRAME_BYTES_MAX);
    assert!(matches!(encode(&text), Err(FrameError::Oversize(_))));
}
