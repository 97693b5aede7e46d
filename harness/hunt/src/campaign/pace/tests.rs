//! What is usual among durations.

use super::*;

#[test]
fn the_usual_is_the_95th_percentile_of_the_last_two_hundred_and_the_longest_of_a_few() {
    let mut pace = Pace::default();
    assert_eq!(pace.usual(), Duration::ZERO);
    pace.note(Duration::from_secs(1));
    pace.note(Duration::from_secs(9));
    assert_eq!(pace.usual(), Duration::from_secs(9));
    (1..=200).for_each(|millis| pace.note(Duration::from_millis(millis)));
    assert_eq!(pace.usual(), Duration::from_millis(190));
}
