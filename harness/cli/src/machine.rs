//! From machine arguments to slots: which program, library, device and environment a worker gets. Starts nothing.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use case::{Environment, WorkerOptions};
use exec::{Deadlines, Interrupt, PhaseTimes, Slot, SpawnOptions};

use crate::args::{Devices, MachineArgs};
use crate::failure::Failure;
use crate::simulator;

/// Guard bytes on each side of a buffer on a GPU. The figure is XLA's redzone size.
const GUARD_BYTES: u64 = 1 << 20;

/// Guard bytes on the simulator, whose device memory is checked by one CPU core.
const GUARD_BYTES_SIMULATED: u64 = 4 << 10;

/// Everything that slots of one command have in common.
pub(crate) struct Machine {
    options: SpawnOptions,
    devices: Vec<u32>,
    times: Arc<PhaseTimes>,
    interrupt: Interrupt,
    /// Holds the lock files by which one worker can have a device alone; removed with the command.
    gate: tempfile::TempDir,
}

impl Machine {
    /// Reads the arguments; `properties` names device properties to plan for instead of a device.
    pub(crate) fn new(arguments: &MachineArgs, properties: Option<PathBuf>) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| Failure::Ours(format!("own path: {error}")))?;
        let simulated = arguments.simulate.is_some();
        // Without a GPU the simulator's driver stands in, so that planning has the symbols it looks for.
        let stand_in = arguments.simulate.clone().or_else(|| properties.as_ref().map(|_| PathBuf::new()));
        let simulator = stand_in.as_deref().map(simulator::folder).transpose()?;
        let library = match (&arguments.library, simulated) {
            (Some(folder), _) => Some(folder.clone()),
            (None, true) => simulator.clone(),
            (None, false) => None,
        };
        let search = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let driver =
            if simulator.is_some() { None } else { exec::driver_from(&search, |path| path.exists()) };
        let gate = tempfile::Builder::new()
            .prefix("convict-")
            .tempdir()
            .map_err(|error| Failure::file("temporary folder", &std::env::temp_dir(), &error))?;
        let worker = WorkerOptions {
            library,
            companions: arguments.companion.clone(),
            driver,
            device: 0,
            memory_share: 1.0,
            guard_bytes: if simulated { GUARD_BYTES_SIMULATED } else { GUARD_BYTES },
            simulated,
            board: PathBuf::new(),
            gate: gate.path().to_owned(),
            properties,
        };
        let options = SpawnOptions {
            program,
            arguments: vec![OsString::from("worker")],
            worker,
            simulator,
            faults: arguments.faults.clone(),
            retire_after: SpawnOptions::RETIRE_AFTER,
            deadlines: if simulated { Deadlines::simulator() } else { Deadlines::gpu() },
        };
        let times = Arc::new(PhaseTimes::default());
        let mut machine = Self { options, devices: vec![0], times, interrupt: Interrupt::default(), gate };
        match &arguments.device {
            Devices::Listed(ordinals) => machine.devices.clone_from(ordinals),
            Devices::All => {
                machine.prepare()?;
                // Only a worker may open the driver that counts them.
                let visible = machine.slot().environment()?.devices_visible;
                machine.devices = (0..visible.max(1)).collect();
            }
        }
        Ok(machine)
    }

    /// Set by Ctrl-C; every slot watches it.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// True on the simulator.
    pub(crate) fn simulated(&self) -> bool {
        self.options.worker.simulated
    }

    /// Folder for files that live as long as the command.
    pub(crate) fn scratch(&self) -> &std::path::Path {
        self.gate.path()
    }

    /// How programs that are run beside workers find the same libraries.
    pub(crate) fn spawn_options(&self) -> &SpawnOptions {
        &self.options
    }

    /// One slot on the first device, with all of its memory.
    pub(crate) fn slot(&self) -> Slot {
        self.slots(1).swap_remove(0)
    }

    /// That many slots, shared out evenly among the devices, each with its share of the device's memory.
    pub(crate) fn slots(&self, count: usize) -> Vec<Slot> {
        let devices = self.devices.len().max(1);
        let per_device = count.div_ceil(devices).max(1);
        (0..count.max(1))
            .map(|index| {
                let mut options = self.options.clone();
                options.worker.device = self.devices.get(index % devices).copied().unwrap_or(0);
                options.worker.memory_share = 1.0 / per_device as f64;
                // Each device has a gate of its own.
                options.worker.gate = self.gate.path().join(format!("device-{}", options.worker.device));
                Slot::new(options, Arc::clone(&self.times), self.interrupt.clone())
            })
            .collect()
    }

    /// Makes the gates' folders; called once before slots are used.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        for device in &self.devices {
            let folder = self.gate.path().join(format!("device-{device}"));
            std::fs::create_dir_all(&folder).map_err(|error| Failure::file("folder", &folder, &error))?;
        }
        Ok(())
    }
}

/// One line that says what is being tested.
pub(crate) fn describe(environment: &Environment, simulated: bool) -> String {
    let place = if simulated { "SIMULATOR, no GPU: " } else { "" };
    format!(
        "{place}cuDNN {} ({}), {}; {}",
        environment.cudnn_text(),
        environment.set(),
        device(environment),
        environment.found
    )
}

fn device(environment: &Environment) -> String {
    if environment.gpu.is_empty() {
        return "no device, plans only".to_owned();
    }
    format!(
        "{} sm_{}, driver {} (CUDA {}.{})",
        environment.gpu,
        environment.compute_capability,
        if environment.driver.is_empty() { "of unknown release" } else { &environment.driver },
        environment.driver_cuda / 1000,
        environment.driver_cuda % 1000 / 10,
    )
}
