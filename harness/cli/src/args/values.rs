//! Values of options: devices, durations, operations, paths that may be empty. Knows their text; opens nothing.

use std::path::PathBuf;
use std::time::Duration;

use case::Operation;
use hunt::Operations;

/// The devices to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    /// Every visible one.
    All,
    /// These ordinals.
    Listed(Vec<u32>),
}

/// A path that may be empty, which stands for the folder beside the executable.
#[expect(clippy::unnecessary_wraps, reason = "clap asks for a result")]
pub(super) fn folder_or_nothing(text: &str) -> Result<PathBuf, std::convert::Infallible> {
    Ok(PathBuf::from(text))
}

/// Reads `all`, or ordinals separated by commas, each once.
pub(super) fn devices(text: &str) -> Result<Devices, String> {
    if text == "all" {
        return Ok(Devices::All);
    }
    let mut listed = Vec::new();
    for word in text.split(',') {
        let ordinal = word.trim().parse().map_err(|_| format!("`{word}` is no device ordinal, nor `all`"))?;
        if listed.contains(&ordinal) {
            return Err(format!("device {ordinal} is named twice"));
        }
        listed.push(ordinal);
    }
    Ok(Devices::Listed(listed))
}

/// Reads the one ordinal that a command with a single worker can use.
pub(super) fn one_device(text: &str) -> Result<Devices, String> {
    match devices(text)? {
        Devices::Listed(listed) if listed.len() == 1 => Ok(Devices::Listed(listed)),
        Devices::Listed(_) | Devices::All => {
            Err("this command runs on one device: name a single ordinal".to_owned())
        }
    }
}

/// Reads names of operations separated by commas, `conv` for the three passes of a convolution, or `all`.
pub(super) fn operations(text: &str) -> Result<Operations, String> {
    let mut named = Vec::new();
    for word in text.split(',').map(str::trim) {
        match word {
            "all" => named.extend(Operation::ALL),
            "conv" => named.extend(Operation::CONVOLUTIONS),
            _ => {
                let known = Operation::ALL.map(Operation::name).join(", ");
                let found = Operation::ALL.into_iter().find(|operation| operation.name() == word);
                named.push(found.ok_or_else(|| format!("'{word}' is none of {known}, conv, all"))?);
            }
        }
    }
    Operations::of(&named).ok_or_else(|| "no operation is named".to_owned())
}

/// Units of a duration with their seconds, longest first.
const UNITS: [(&str, u64); 3] = [("h", 3600), ("m", 60), ("s", 1)];

/// Reads `90s`, `10m`, `1h30m`, `1m30s` or plain seconds: each unit at most once, the longest first.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "'{text}' is no duration: write seconds, or hours, minutes and seconds: 90, 90s, 10m, 2h, 1m30s"
        )
    };
    let long = || format!("'{text}' is too long");
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if plain { digits.parse::<u64>().map_err(|_| long()) } else { Err(wrong()) }
    };
    if !text.ends_with(['h', 'm', 's']) {
        return number(text).map(Duration::from_secs);
    }
    let (mut rest, mut seconds) = (text, 0_u64);
    for (unit, each) in UNITS {
        let Some((digits, after)) = rest.split_once(unit) else { continue };
        let part = number(digits)?.checked_mul(each).ok_or_else(long)?;
        seconds = seconds.checked_add(part).ok_or_else(long)?;
        rest = after;
    }
    if rest.is_empty() { Ok(Duration::from_secs(seconds)) } else { Err(wrong()) }
}

/// Reads a duration in which something has to be done, so that none is no answer.
pub(super) fn some_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err(format!("'{text}' leaves no time: write a second or more")),
        time => Ok(time),
    }
}

/// Reads `1048576`, `512MiB`, `2GiB`: at most 63 bits of bytes.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, shift) = case::split_byte_unit(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("'{text}' is no number of bytes: write digits, alone or with KiB, MiB or GiB"));
    }
    let count = digits.parse::<i64>().ok().and_then(|count| count.checked_mul(1 << shift));
    count.and_then(|count| u64::try_from(count).ok()).ok_or_else(|| format!("'{text}' is too much"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_may_join_them() {
        let seconds = |text: &str| duration(text).map(|duration| duration.as_secs());
        for (text, expected) in
            [("90s", 90), ("2h", 7200), ("10", 10), ("1m30s", 90), ("1h30m", 5400), ("1h0m5s", 3605)]
        {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["ten", "m", "", "1m30", "30s1m", "1s1s", "-1s", "+1", "1.5m", "1 m"] {
            let refused = seconds(text).expect_err(text);
            assert!(refused.ends_with("90, 90s, 10m, 2h, 1m30s"), "{refused}");
        }
        for text in ["99999999999999999999h", "9999999999999999999h", "18446744073709551615s1"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_have_binary_units() {
        for (text, expected) in
            [("0", 0), ("17", 17), ("1KiB", 1 << 10), ("512MiB", 512 << 20), ("2GiB", 2 << 30)]
        {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "MiB", "1MB", "-1", "+1", "1.5GiB", "9223372036854775808", "9999999999GiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn operations_are_named_in_any_order_and_each_is_taken_once() {
        let names = |text: &str| {
            operations(text).map(|found| found.iter().map(Operation::name).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(names("matmul,maxpool, matmul"), Ok("maxpool matmul".to_owned()));
        assert_eq!(names("conv"), Ok("fprop dgrad wgrad".to_owned()));
        assert_eq!(operations("conv"), Ok(Operations::CONVOLUTIONS));
        assert_eq!(names("all"), Ok("fprop dgrad wgrad maxpool avgpool matmul rmsnorm".to_owned()));
        for text in ["", "pool", "maxpool,", "MaxPool"] {
            let refused = operations(text).expect_err(text);
            assert!(refused.ends_with("matmul, rmsnorm, conv, all"), "{refused}");
        }
    }

    #[test]
    fn a_command_with_one_worker_takes_one_device() {
        assert_eq!(one_device("7"), Ok(Devices::Listed(vec![7])));
        for text in ["0,7", "all"] {
            assert!(one_device(text).is_err_and(|error| error.contains("one device")), "{text}");
        }
        assert_eq!(devices("0,7"), Ok(Devices::Listed(vec![0, 7])));
        assert_eq!(devices("all"), Ok(Devices::All));
        assert!(devices("1,1").is_err() && devices("x").is_err());
    }
}
