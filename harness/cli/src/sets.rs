//! From a library set's name on the command line to a machine: a folder, an unpacked wheel, a simulated set, a
//! published wheel. Knows where cuDNN lies in each; opens none of them.

mod place;
mod sameness;
pub(crate) mod store;

use std::path::{Path, PathBuf};

pub(crate) use place::{Place, library_in};
pub(crate) use sameness::require_two;

use crate::args::{Devices, MachineArgs};
use crate::failure::Failure;
use crate::machine::Machine;
use crate::planning::Planned;
use crate::simulator;

/// What begins the name of a published wheel.
pub(crate) const WHEEL: &str = "wheel:";

/// A library set that was named, ready to give slots.
pub(crate) struct Set {
    name: String,
    place: Place,
    machine: Machine,
}

impl Set {
    /// Finds the set of that name; `arguments` say what holds for every set of the command, and `properties` names
    /// device properties to plan for instead of a device. A wheel that is not in the cache is fetched.
    pub(crate) fn named(
        name: &str,
        arguments: &MachineArgs,
        devices: &Devices,
        properties: Option<&Path>,
    ) -> Result<Self, Failure> {
        refuse_other_names(arguments)?;
        if properties.is_some() {
            require_stand_in(arguments)?;
        }
        let place = Place::named(name, arguments.simulate.is_some(), properties.is_some())?;
        let arguments = place.arguments(arguments);
        let machine = Machine::new(&arguments, devices, properties.map(PathBuf::from))?;
        machine.prepare()?;
        Ok(Self { name: name.to_owned(), place, machine })
    }

    /// The set of that name without a device: plans are built for what was asked for.
    pub(crate) fn planned(name: &str, arguments: &MachineArgs, planned: &Planned) -> Result<Self, Failure> {
        refuse_other_names(arguments)?;
        require_stand_in(arguments)?;
        let place = Place::named(name, arguments.simulate.is_some(), true)?;
        let machine = Machine::of(&place.arguments(arguments), &Devices::Listed(vec![0]), Some(planned))?;
        machine.prepare()?;
        Ok(Self { name: name.to_owned(), place, machine })
    }

    /// As it was named.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Gives slots with its libraries.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }
}

/// What stands in for a driver must be there before anything is fetched: a set has hundreds of megabytes.
fn require_stand_in(arguments: &MachineArgs) -> Result<(), Failure> {
    let named = arguments.simulate.clone().unwrap_or_default();
    simulator::folder(&named).map(|_| ())
}

/// Libraries come from the sets alone.
pub(crate) fn refuse_other_names(arguments: &MachineArgs) -> Result<(), Failure> {
    let refuse = |what: &str| {
        Err(Failure::Usage(format!("{what} can't join library sets that have names of their own")))
    };
    if arguments.library.is_some() {
        return refuse("--library");
    }
    if arguments.faults.is_some() {
        return refuse("--faults");
    }
    Ok(())
}
