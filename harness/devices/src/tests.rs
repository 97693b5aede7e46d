//! The table is whole, and a user's text is completed or refused in one line.

use super::*;

#[test]
fn every_profile_has_every_key_a_source_and_a_date_and_marks_only_keys_that_it_has() {
    let all = profiles().expect("the table is sound");
    let arches: Vec<u32> = all.iter().map(|profile| profile.arch).collect();
    assert_eq!(arches, [70, 75, 80, 86, 86, 87, 89, 89, 89, 90, 90, 100, 103, 110, 120, 121]);
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
fn people_name_their_device_and_an_architecture_stands_for_its_first() {
    for (word, name, arch) in [
        ("h100", "NVIDIA H100 80GB HBM3", 90),
        ("H100", "NVIDIA H100 80GB HBM3", 90),
        ("sm_90", "NVIDIA H200", 90),
        ("SM_86", "NVIDIA GeForce RTX 3090", 86),
        ("a10", "NVIDIA A10", 86),
        ("l40s", "NVIDIA L40S", 89),
        ("b300", "NVIDIA B300 SXM6 AC", 103),
        ("gb10", "NVIDIA GB10", 121),
        ("orin", "Orin", 87),
        ("thor", "NVIDIA Thor", 110),
    ] {
        let target = Target::of(Profile::named(word).expect(word));
        assert_eq!((target.name.as_str(), target.arch), (name, arch), "{word}");
    }
    for word in ["", "sm_", "sm_9", "90", "sm_090", "sm_90 ", "h100\u{1b}[31m", "../../etc/passwd"] {
        let error = Profile::named(word).expect_err(word);
        assert!(matches!(error, DeviceError::Unknown { .. }), "{word}: {error}");
    }
}

/// Limits by compute capability. Source: CCCL's `cuda::arch_traits`, read on 2026-12-03; bytes of shared memory that a
/// block may opt into, blocks and threads of a multiprocessor.
const TRAITS: [(u32, u64, u64, u64); 12] = [
    (70, 96 << 10, 32, 2048),
    (75, 64 << 10, 16, 1024),
    (80, 163 << 10, 32, 2048),
    (86, 99 << 10, 16, 1536),
    (87, 163 << 10, 16, 1536),
    (89, 99 << 10, 24, 1536),
    (90, 227 << 10, 32, 2048),
    (100, 227 << 10, 32, 2048),
    (103, 227 << 10, 32, 2048),
    (110, 227 << 10, 24, 1536),
    (120, 99 << 10, 24, 1536),
    (121, 99 << 10, 24, 1536),
];

#[test]
fn every_profile_keeps_to_the_limits_of_its_architecture() {
    for profile in profiles().expect("the table is sound") {
        let (arch, optin, blocks, threads) =
            *TRAITS.iter().find(|(arch, ..)| *arch == profile.arch).expect("limits of each architecture");
        let value = |key: &str| profile.properties[key].as_u64().expect("a number");
        let reserved = if arch >= 80 { 1024 } else { 0 };
        for (key, wanted) in [
            ("maxSharedMemoryPerBlockOptin", optin),
            ("maxCtasPerSM", blocks),
            ("maxThreadsPerSM", threads),
            ("reservedSharedMemoryPerBlock", reserved),
            ("maxSharedMemoryPerBlock", 48 << 10),
            ("maxThreadsPerBlock", 1024),
            ("maxRegistersPerSM", 64 << 10),
            ("warpSize", 32),
            ("deviceVer", u64::from(arch) * 10),
        ] {
            assert_eq!(value(key), wanted, "{}: {key}", profile.name);
        }
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
    for (key, value, words) in [
        ("multiProcessorCount", "0", "at least 1"),
        ("multiProcessorCount", "-5", "at least 1"),
        ("totalGlobalMem", "1180591620717411303424", "a device can have"),
        ("smClockRateKHz", "1.5", "a device can have"),
        ("smClockRateKHz", "2147483648", "a device can have"),
        ("l2CacheSize", "null", "a device can have"),
        ("maxGridSize", "[]", "three sizes"),
        ("maxGridSize", "[1, 2, \"3\"]", "three sizes"),
        ("maxBlockSize", "[1, 2, 3, 4]", "three sizes"),
    ] {
        let text = format!("{{\"deviceVer\": 900, \"{key}\": {value}}}");
        let error = Target::read(&text, None).expect_err(&text).to_string();
        assert!(error.starts_with(&format!("key {key} is ")) && error.contains(words), "{error}");
    }
    let text = format!("{{\"deviceVer\": 900, \"deviceName\": \"{}\"}}", "x".repeat(256));
    assert!(Target::read(&text, None).expect_err("too long").to_string().contains("255 characters"));
    let error = Profile::named("sm_61").expect_err("no profile").to_string();
    assert!(
        error.contains("sm_90 (h200, h100), sm_100 (b200)") && error.contains("--device-json"),
        "{error}"
    );
}
