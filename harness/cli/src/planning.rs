//! From the arguments of a hunt without a GPU to the device that is planned for. Knows files and words; plans nothing.

use std::path::Path;

use case::Environment;
use devices::{DeviceError, Profile, Target};

use crate::args::{PlanOnly, Switch};
use crate::failure::Failure;
use crate::named;

/// Name that a simulated device must bear, whatever is planned for, so that nothing made there accuses a library.
const SIMULATED: &str = "convict simulator";

/// Plans of a problem that compile at run time, with `--rtc on`: one takes half a second to several seconds of a core,
/// and a problem has up to 80 of them.
const COMPILED_MAX: usize = 1;

/// Most bytes of a file of device properties: a bundle's environment lists every mapped file besides.
const DEVICE_BYTES_MAX: u64 = 16 << 20;

/// What workers are told that have no device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Planned {
    /// The device.
    pub(crate) target: Target,
    /// Most plans of a problem that compile at run time; no limit where it is `None`.
    pub(crate) compiled_max: Option<usize>,
}

/// The device that the arguments ask for; `None` where nothing but execution is asked for.
///
/// `compiled` says whether engines that compile at run time are planned for where `--rtc` says nothing.
pub(crate) fn planned(
    arguments: &PlanOnly,
    simulated: bool,
    compiled: Switch,
) -> Result<Option<Planned>, Failure> {
    if !arguments.plan_only {
        return match (&arguments.arch, &arguments.device_json, arguments.rtc) {
            (None, None, None) => Ok(None),
            (Some(_), ..) => Err(needs("--arch")),
            (None, Some(_), _) => Err(needs("--device-json")),
            (None, None, Some(_)) => Err(needs("--rtc")),
        };
    }
    let profile =
        arguments.arch.as_deref().map(|word| Profile::named(word).map_err(|error| failed("--arch", &error)));
    let target = match (profile.transpose()?, &arguments.device_json) {
        (profile, Some(path)) => read(path, profile.as_ref())?,
        (Some(profile), None) => Target::of(profile),
        (None, None) => {
            let words = "--plan-only needs a device to plan for: add --arch sm_90, or --device-json FILE";
            return Err(Failure::Usage(words.to_owned()));
        }
    };
    let target = if simulated { target.called(SIMULATED) } else { target };
    let compiled_max = match arguments.rtc.unwrap_or(compiled) {
        Switch::Off => Some(0),
        Switch::On => Some(COMPILED_MAX),
        Switch::All => None,
    };
    Ok(Some(Planned { target, compiled_max }))
}

fn needs(option: &str) -> Failure {
    Failure::Usage(format!("{option} needs --plan-only: what executes uses the device that is there"))
}

/// The device of a profile or of a file.
pub(crate) fn read(path: &Path, profile: Option<&Profile>) -> Result<Target, Failure> {
    let place = format!("--device-json {}", path.display());
    let text = named::text(path, DEVICE_BYTES_MAX)
        .map_err(|why| Failure::Usage(format!("{place}: {why}; name a readable file")))?;
    Target::read(&text, profile).map_err(|error| failed(&place, &error))
}

fn failed(place: &str, error: &DeviceError) -> Failure {
    let message = format!("{place}: {error}");
    match error {
        DeviceError::Table(_) => Failure::Ours(message),
        DeviceError::Unknown { .. }
        | DeviceError::Text(_)
        | DeviceError::Value { .. }
        | DeviceError::Missing { .. }
        | DeviceError::Other { .. } => Failure::Usage(message),
    }
}

/// The device that a bundle was planned for; `None` where its case was executed.
pub(crate) fn of_bundle(environment: &Environment) -> Result<Option<Planned>, Failure> {
    if !environment.plans_only {
        return Ok(None);
    }
    let mut target = Target::read(&environment.device_properties, None)
        .map_err(|error| failed("environment.json: device_properties", &error))?;
    target.assumed.extend(environment.assumed.iter().cloned());
    Ok(Some(Planned { target, compiled_max: None }))
}
