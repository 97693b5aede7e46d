//! The table is whole, and a user's text is completed or refused in one line.

use super::*;

#[test]
fn every_profile_has_every_key_a_source_and_a_date_and_marks_only_keys_that_it_has() {
    let all = profiles().expect("the table is sound");
    let arches: Vec<u32> = all.iter().map(|profile| profile.arch).collect();
    assert_eq!(arches, [70, 75, 80, 86, 89, 89, 90, 100, 120]);
    for profile in all {
        let name = profile.name.clone();
        assert!(profile.source.len() > 20 && profile.date.len() == 10, "{name}");
        for key in &profile.assumed {
            assert!(profile.properties.contains_key(key), "{name}: {key}");
        }
        let text = Target::of(profile.clone()).json();
        // Read back, nothing has to be assumed: the row has every key.
        let read = Target::read(&text, None).expect("a device");
        assert!(read.assumed.is_empty() && read.arch == profile.arch, "{name}: {:?}", read.assumed);
    }
}

#[test]
fn a_key_that_a_newer_library_wants_is_added_and_marked() {
    let text = include_str!("../../../tests/e2e/data/h200.json");
    let read = Target::read(text, None).expect("a device");
    assert_eq!((read.arch, read.name.as_str()), (90, "NVIDIA H200"));
    let lacks = !text.contains("memoryBusWidth");
    assert_eq!(read.assumed.contains(&"memoryBusWidth".to_owned()), lacks, "{:?}", read.assumed);
    assert!(read.json().contains("\"memoryBusWidth\":6144"));
}

#[test]
fn what_is_no_device_is_refused_in_one_line() {
    let h200 = Profile::named("h200").expect("a profile");
    let other = Target::of(Profile::named("sm_75").expect("a profile")).json();
    for (text, words) in [
        ("nonsense", "is no device JSON"),
        ("[1]", "no object"),
        ("{}", "deviceVer is missing"),
        (r#"{"deviceVer": "900"}"#, "deviceVer is \"900\""),
        (r#"{"deviceVer": 610}"#, "lacks maxGridSize"),
        (r#"{"deviceVer": 900, "deviceName": 3}"#, "deviceName is 3, not a text"),
        (other.as_str(), "is a device of sm_75"),
        (&"x".repeat(40_000), "more than the"),
    ] {
        let profile = text.contains("Tesla").then_some(&h200);
        let error = Target::read(text, profile).expect_err(words).to_string();
        assert!(error.contains(words) && error.lines().count() == 1, "{words}: {error}");
    }
    let error = Profile::named("sm_61").expect_err("no profile").to_string();
    assert!(error.contains("sm_90 (h200)"), "{error}");
}
