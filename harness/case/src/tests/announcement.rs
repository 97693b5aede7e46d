//! Announcements survive their bytes and show damage. Knows nothing of shared files.

use proptest::prelude::*;

use crate::{Announcement, Phase};

fn any_announcement() -> impl Strategy<Value = Announcement> {
    (any::<u64>(), any::<u32>(), prop::sample::select(&Phase::ALL[..]), any::<u32>())
        .prop_map(|(job, ordinal, phase, sequence)| Announcement { job, ordinal, phase, sequence })
}

proptest! {
    #[test]
    fn an_announcement_read_back_is_the_same(announcement in any_announcement()) {
        prop_assert_eq!(Announcement::decode(&announcement.encode()), Some(announcement));
    }

    #[test]
    fn every_single_damaged_bit_is_noticed(announcement in any_announcement()) {
        // The factor 31 is odd, so one changed bit always changes the check byte.
        for bit in 0..18 * 8 {
            let mut bytes = announcement.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(Announcement::decode(&bytes), None, "bit {}", bit);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in any::<[u8; Announcement::BYTES]>()) {
        if let Some(announcement) = Announcement::decode(&bytes) {
            prop_assert_eq!(&announcement.encode()[..18], &bytes[..18]);
        }
    }
}

#[test]
fn a_file_of_zeros_is_no_announcement() {
    assert_eq!(Announcement::decode(&[0; Announcement::BYTES]), None);
}
