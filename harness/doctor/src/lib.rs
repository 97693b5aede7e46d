//! What a machine has of drivers, toolkits, CUDA libraries and frameworks, which of it a program maps, and what does
//! not belong together. Reads through a source that it is given, opens no foreign library and starts nothing.

mod cache;
mod classes;
mod copies;
mod elf;
mod family;
mod findings;
#[cfg(test)]
mod forge;
mod hash;
mod ledger;
mod loader;
mod machine;
mod owner;
mod packages;
mod places;
mod process;
mod programs;
mod resolve;
mod source;
mod tables;
mod version;

pub use classes::Classes;
pub use copies::{Copy, KnownBy, Library, Odd};
pub use family::Family;
pub use findings::{Finding, Severity};
pub use ledger::{Devices, FORMAT, Facts, Ledger, Place, examine};
pub use machine::{DEVICE_QUERY, Device, Driver, PROCESS_QUERY, Process, Toolkit, Variable, devices};
pub use owner::Owner;
pub use packages::{Package, Pin};
pub use process::{Running, running};
pub use programs::{Mapped, Program, Python, Seen, Step, answers, mapped};
pub use source::{Source, Trouble};
pub use tables::{
    Build, Framework, LeastDriver, Pinned, Served, Set, Switch, builds, cuda_of_driver, framework,
    frameworks, least_driver, least_drivers, pinned, pins, served, set_of, sets, switches, version_of_build,
};
pub use version::Version;

/// The program that a Python runs to tell where it looks and what it maps; its arguments are a file for its answers and
/// `places`, which tells folders alone, or `import`, which opens libraries.
pub const PROBE: &str = include_str!("probe.py");
