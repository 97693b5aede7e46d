//! Device properties as JSON. Knows which keys must be there and what the simulated device's are.

use serde_json::Value;

use crate::stop::Stop;

/// Properties of the simulated device.
pub(super) const PROPERTIES: &str = r#"{"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,"multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,"totalGlobalMem":1073741824,"smClockRateKHz":1980000,"memClockRateKHz":3201000,"l2CacheSize":62914560,"cudaDeviceId":0,"deviceVer":900,"driverVer":13000,"deviceName":"convict simulator"}"#;

/// Keys that must be there.
const KEYS: [&str; 23] = [
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
    "l2CacheSize",
    "cudaDeviceId",
    "deviceVer",
    "driverVer",
    "deviceName",
];

/// Checks text given as device properties.
pub(super) fn check(text: &str) -> Result<(), Stop> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| Stop::bad_param(format!("device JSON: {error}")))?;
    match KEYS.iter().find(|key| value.get(**key).is_none()) {
        Some(key) => Err(Stop::bad_param(format!("device JSON lacks {key}"))),
        None => Ok(()),
    }
}
