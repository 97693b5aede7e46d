//! Rules about the driver and the devices: whether the machine itself is what ails. Knows what nvidia-smi told; asks
//! nothing.

use super::mend::{Mend, word};
use super::{Found, Severity};
use crate::ledger::{Devices, View};
use crate::machine::Device;

/// Part of a device's memory below which little is free.
const FREE_PART: u64 = 10;

/// What nvidia-smi says where the driver was changed under the running kernel.
const MISMATCH: &str = "version mismatch";

/// A driver whose library and kernel module are of different releases: nothing works until the module is loaded anew.
pub(super) fn driver_differs(view: &View<'_>) -> Vec<Found> {
    let Devices::Unknown(why) = &view.ledger.devices else { return Vec::new() };
    if !why.contains(MISMATCH) {
        return Vec::new();
    }
    let module =
        view.ledger.driver.release.as_ref().map(|release| format!("the kernel's module is {release}"));
    vec![Found {
        rule: "driver-differs",
        severity: Severity::Error,
        title: "the driver's library and its kernel module are of different releases".to_owned(),
        evidence: std::iter::once(format!("nvidia-smi: {why}")).chain(module).collect(),
        files: Vec::new(),
        mend: Mend::Host("sudo reboot".to_owned()),
    }]
}

/// Devices with memory errors, and those whose memory others hold.
pub(super) fn devices(view: &View<'_>) -> Vec<Found> {
    let Devices::Known(devices) = &view.ledger.devices else { return Vec::new() };
    devices.iter().flat_map(|device| ailing(device).into_iter().chain(full(device))).collect()
}

fn ailing(device: &Device) -> Option<Found> {
    let errors: u64 = device.ecc_uncorrected.parse().ok().filter(|errors| *errors > 0)?;
    Some(Found {
        rule: "memory-errors",
        severity: Severity::Error,
        title: format!("GPU {} counts {errors} memory errors that ECC could not correct", device.index),
        evidence: vec![
            "each ends the programs on it, whatever they do; a device that counts more of them is broken"
                .to_owned(),
        ],
        files: Vec::new(),
        mend: Mend::Host(format!("sudo nvidia-smi --gpu-reset -i {}", word(&device.index))),
    })
}

fn full(device: &Device) -> Option<Found> {
    let [Some(total), _, Some(free)] = device.memory_mib else { return None };
    if total == 0 || free >= total / FREE_PART {
        return None;
    }
    let held = |process: &crate::machine::Process| {
        let used =
            process.used_mib.map_or_else(|| "an unknown part".to_owned(), |used| format!("{used} MiB"));
        format!("process {} ({}) holds {used}", process.pid, process.name)
    };
    let largest = device.processes.iter().max_by_key(|process| process.used_mib);
    let pid = largest.and_then(|process| process.pid.parse::<u32>().ok());
    let hidden =
        device.processes.is_empty().then(|| "who holds it is not told, as in a container".to_owned());
    Some(Found {
        rule: "memory-held",
        severity: Severity::Warning,
        title: format!("GPU {} has {free} of {total} MiB free: expect ALLOC_FAILED", device.index),
        evidence: device.processes.iter().map(held).chain(hidden).collect(),
        files: Vec::new(),
        mend: Mend::Host(pid.map_or_else(
            || format!("sudo fuser -v /dev/nvidia{} # and end what is not wanted", word(&device.index)),
            |pid| format!("kill {pid} # if it is not wanted"),
        )),
    })
}
