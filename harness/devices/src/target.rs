//! What a library is told of the device to plan for: a profile, or a user's properties with what they lack. Knows which
//! keys there must be and says which of them are assumed.

use serde_json::{Map, Value};

use crate::error::DeviceError;
use crate::profile::Profile;

/// Keys that some version of cuDNN asks for. Source: the names that 9.12, 9.19 and 9.28.1 give when one is missing.
const KEYS: [&str; 24] = [
    "maxGridSize",
    "maxBlockSize",
    "regsPerBlock",
    "multiProcessorCount",
    "warpSize",
    "maxSharedMemoryPerBlock",
    "maxSharedMemoryPerBlockOptin",
    "reservedSharedMemoryPerBlock",
    "maxRegistersPerSM",
    "maxCtasPerSM",
    "maxThreadsPerBlock",
    "maxThreadsPerSM",
    "pciDeviceId",
    "isTccDriver",
    "supportCoopLaunch",
    "totalGlobalMem",
    "smClockRateKHz",
    "memClockRateKHz",
    "memoryBusWidth",
    "l2CacheSize",
    "cudaDeviceId",
    "deviceVer",
    "driverVer",
    "deviceName",
];

/// Longest device JSON that is read, bytes: forty times a real one.
const TEXT_BYTES_MAX: usize = 32 << 10;

/// A device to plan for.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Name of the device.
    pub name: String,
    /// Architecture, compute capability times 10.
    pub arch: u32,
    /// Keys that are assumed, in cuDNN's order.
    pub assumed: Vec<String>,
    properties: Map<String, Value>,
}

impl Target {
    /// The device of a profile.
    #[must_use]
    pub fn of(profile: Profile) -> Self {
        let Profile { arch, assumed, properties, .. } = profile;
        let name = properties.get("deviceName").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { name, arch, assumed, properties }
    }

    /// The device of a user's text; what it lacks is taken from the profile, or from the first of its architecture, and
    /// marked as assumed.
    ///
    /// # Errors
    /// Text that is no such object, another architecture than the profile's, or a key that nothing says.
    pub fn read(text: &str, profile: Option<&Profile>) -> Result<Self, DeviceError> {
        if text.len() > TEXT_BYTES_MAX {
            let words = format!("it has {} bytes, more than the {TEXT_BYTES_MAX} allowed", text.len());
            return Err(DeviceError::Text(words));
        }
        let value: Value =
            serde_json::from_str(text.trim()).map_err(|error| DeviceError::Text(error.to_string()))?;
        // A bundle's environment holds the same text in a field of its own.
        if let Some(inner) = value.get("device_properties").and_then(Value::as_str) {
            return Self::read(inner, profile);
        }
        let Value::Object(mut properties) = value else {
            return Err(DeviceError::Text("it is no object of keys and values".to_owned()));
        };
        let arch = arch(&properties)?;
        if let Some(profile) = profile.filter(|profile| profile.arch != arch) {
            return Err(DeviceError::Other { found: arch, asked: profile.arch });
        }
        let like = match profile {
            Some(profile) => Some(profile.clone()),
            None => Profile::of(arch)?,
        };
        let mut assumed = Vec::new();
        for key in KEYS {
            if let Some(value) = properties.get(key) {
                check(key, value)?;
                continue;
            }
            let known = like.as_ref().and_then(|profile| profile.properties.get(key));
            let value = known.ok_or(DeviceError::Missing { key, arch })?;
            properties.insert(key.to_owned(), value.clone());
            assumed.push(key.to_owned());
        }
        let name = match properties.get("deviceName") {
            Some(Value::String(name)) => name.clone(),
            other => return Err(wrong("deviceName", other, "a text")),
        };
        Ok(Self { name, arch, assumed, properties })
    }

    /// The same device under another name.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self.properties.insert("deviceName".to_owned(), name.into());
        self
    }

    /// The properties as cuDNN's JSON.
    #[must_use]
    pub fn json(&self) -> String {
        Value::Object(self.properties.clone()).to_string()
    }
}

/// Longest name of a device. cuDNN 9.19 dies of one with 20,000 characters; CUDA's own is at most 255.
const NAME_CHARS_MAX: usize = 255;

/// Refuses what a driver would never say, and of which a library may die.
fn check(key: &str, value: &Value) -> Result<(), DeviceError> {
    let least = if ["multiProcessorCount", "warpSize"].contains(&key) { 1 } else { 0 };
    let most = if key == "totalGlobalMem" { i64::MAX.unsigned_abs() } else { i32::MAX.unsigned_abs().into() };
    let number = |value: &Value| value.as_u64().is_some_and(|number| (least..=most).contains(&number));
    match key {
        "deviceName" => match value.as_str() {
            Some(name) if name.chars().count() <= NAME_CHARS_MAX => Ok(()),
            Some(_) => Err(wrong(key, Some(value), "a text of at most 255 characters")),
            None => Err(wrong(key, Some(value), "a text")),
        },
        "maxGridSize" | "maxBlockSize" => match value.as_array() {
            Some(sizes) if sizes.len() == 3 && sizes.iter().all(number) => Ok(()),
            Some(_) | None => Err(wrong(key, Some(value), "three sizes")),
        },
        // Some versions say this as a truth value.
        "isTccDriver" | "supportCoopLaunch" if value.is_boolean() => Ok(()),
        _ if number(value) => Ok(()),
        _ if least > 0 => Err(wrong(key, Some(value), "a whole number of at least 1")),
        _ => Err(wrong(key, Some(value), "a whole number that a device can have")),
    }
}

/// Architecture by `deviceVer`, which counts 100 * major + 10 * minor.
fn arch(properties: &Map<String, Value>) -> Result<u32, DeviceError> {
    let found = properties.get("deviceVer");
    let version = found.and_then(Value::as_u64).filter(|version| (100..100_000).contains(version));
    let version = version.ok_or_else(|| wrong("deviceVer", found, "a number such as 900 for sm_90"))?;
    Ok(u32::try_from(version / 10).unwrap_or(0))
}

fn wrong(key: &str, found: Option<&Value>, wanted: &'static str) -> DeviceError {
    let found =
        found.map_or_else(|| "missing".to_owned(), |value| value.to_string().chars().take(64).collect());
    DeviceError::Value { key: key.to_owned(), found, wanted }
}
