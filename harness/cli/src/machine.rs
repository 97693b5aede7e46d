//! From machine arguments to slots: which program, library, device and environment a worker gets. Starts nothing.
//! Several machines may live in one process: they share the wish to stop and the gates of their devices.

use std::ffi::OsString;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use case::{Environment, Pressure, WorkerOptions};
use exec::{Deadlines, Interrupt, PhaseTimes, Slot, SpawnOptions};

use crate::args::{Devices, MachineArgs};
use crate::failure::Failure;
use crate::planning::Planned;
use crate::scratch::Scratch;
use crate::simulator;

/// Guard bytes on each side of a buffer on a GPU. The figure is XLA's redzone size.
const GUARD_BYTES: u64 = 1 << 20;

/// Guard bytes on the simulator, whose device memory is checked by one CPU core.
const GUARD_BYTES_SIMULATED: u64 = 4 << 10;

/// Name of the file of device properties in the folder for such files.
const PROPERTIES: &str = "device.json";

/// The wish to stop: one for the process, watched by every slot of every machine.
static INTERRUPT: LazyLock<Interrupt> = LazyLock::new(Interrupt::default);

/// What setting the one handler of the process came to.
static HANDLER: LazyLock<Result<(), String>> = LazyLock::new(|| {
    ctrlc::set_handler(|| INTERRUPT.set()).map_err(|error| format!("signal handler: {error}"))
});

/// The wish to stop of this process.
pub(crate) fn interrupt() -> &'static Interrupt {
    &INTERRUPT
}

/// Has Ctrl-C and a polite kill set the wish to stop, so that nothing is left behind.
pub(crate) fn catch_signals() -> Result<(), Failure> {
    HANDLER.clone().map_err(Failure::Ours)
}

/// Everything that slots of one library set have in common.
pub(crate) struct Machine {
    options: SpawnOptions,
    devices: Vec<u32>,
    /// True where the simulator's own cuDNN is what is tested.
    stands_in: bool,
    times: Arc<PhaseTimes>,
    /// Holds the lock files by which one worker can have a device alone, among those of all machines; removed with the
    /// last of them.
    gate: Arc<Scratch>,
}

impl Machine {
    /// Reads the arguments; `properties` names device properties to plan for instead of a device.
    pub(crate) fn new(
        arguments: &MachineArgs,
        devices: &Devices,
        properties: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        check_faults(arguments)?;
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
        let gate = Scratch::shared()
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
            assumed: Vec::new(),
            compiled_max: None,
            second_stack: None,
            pressure: None,
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
        let stands_in = simulated && arguments.library.is_none();
        let mut machine = Self { options, devices: vec![0], stands_in, times, gate };
        match devices {
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

    /// A machine that executes on those devices or, where one is planned for, has none.
    pub(crate) fn of(
        arguments: &MachineArgs,
        devices: &Devices,
        planned: Option<&Planned>,
    ) -> Result<Self, Failure> {
        let Some(planned) = planned else { return Self::new(arguments, devices, None) };
        let scratch = Scratch::shared()
            .map_err(|error| Failure::file("temporary folder", &std::env::temp_dir(), &error))?;
        let place = scratch.path().join(PROPERTIES);
        std::fs::write(&place, planned.target.json())
            .map_err(|error| Failure::file("temporary file", &place, &error))?;
        let mut machine = Self::new(arguments, &Devices::Listed(vec![0]), Some(place))?;
        machine.options.worker.assumed.clone_from(&planned.target.assumed);
        machine.options.worker.compiled_max = planned.compiled_max;
        if !machine.simulated() && planned.compiled_max != Some(0) {
            machine.options.deadlines = Deadlines::compiling();
        }
        Ok(machine)
    }

    /// One line that says what is being tested.
    pub(crate) fn describe(&self, environment: &Environment) -> String {
        let place = if self.simulated() { "SIMULATOR, no GPU: " } else { "" };
        // A worker is told the simulator's folder as if a user had named it.
        let found = if self.stands_in { "convict's own stand-in" } else { environment.found.as_str() };
        format!(
            "{place}cuDNN {} ({}), {}; {found}",
            environment.cudnn_text(),
            environment.set(),
            device(environment)
        )
    }

    /// Set by Ctrl-C; every slot watches it.
    #[expect(clippy::unused_self, reason = "whoever asks should not have to know that machines share it")]
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &INTERRUPT
    }

    /// True on the simulator.
    pub(crate) fn simulated(&self) -> bool {
        self.options.worker.simulated
    }

    /// True where there is no device to execute on.
    pub(crate) fn plans_only(&self) -> bool {
        self.options.worker.properties.is_some()
    }

    /// Devices to use.
    pub(crate) fn devices(&self) -> usize {
        self.devices.len().max(1)
    }

    /// Refuses devices that would stay unused without a word.
    pub(crate) fn require_workers(&self, workers: usize) -> Result<(), Failure> {
        if workers >= self.devices() {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "--device names {} devices, more than there are workers ({workers}); add workers by --workers, or name \
             fewer devices",
            self.devices()
        )))
    }

    /// Folder for files that live as long as the command.
    pub(crate) fn scratch(&self) -> &std::path::Path {
        self.gate.path()
    }

    /// How programs that are run beside workers find the same libraries and the first of the devices.
    pub(crate) fn spawn_options(&self) -> SpawnOptions {
        let mut options = self.options.clone();
        options.worker.device = self.devices.first().copied().unwrap_or(0);
        options
    }

    /// The same machine whose workers open another stack first, or have little memory left.
    pub(crate) fn under(mut self, second_stack: Option<PathBuf>, pressure: Option<Pressure>) -> Self {
        self.options.worker.second_stack = second_stack;
        self.options.worker.pressure = pressure;
        self
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
                Slot::new(options, Arc::clone(&self.times), INTERRUPT.clone())
            })
            .collect()
    }

    /// Makes the gates' folders, and has Ctrl-C and a polite kill set the interrupt, so that nothing is left behind;
    /// called before slots are used.
    pub(crate) fn prepare(&self) -> Result<(), Failure> {
        catch_signals()?;
        for device in &self.devices {
            let folder = self.gate.path().join(format!("device-{device}"));
            std::fs::create_dir_all(&folder).map_err(|error| Failure::file("folder", &folder, &error))?;
        }
        Ok(())
    }
}

/// A fault script must be there before anything starts: a worker could say nothing but that the library refuses.
fn check_faults(arguments: &MachineArgs) -> Result<(), Failure> {
    let Some(script) = &arguments.faults else { return Ok(()) };
    if arguments.simulate.is_none() {
        return Err(Failure::Usage(
            "--faults needs --simulate: a real library takes no fault script".to_owned(),
        ));
    }
    if script.as_os_str() == "none" {
        return Ok(());
    }
    let refuse = |why: String| Failure::Usage(format!("--faults {}: {why}", script.display()));
    let file = std::fs::File::open(script).map_err(|error| refuse(error.to_string()))?;
    let data = file.metadata().map_err(|error| refuse(error.to_string()))?;
    if data.is_dir() {
        return Err(refuse("is a folder, not a fault script".to_owned()));
    }
    if data.is_file() {
        let script: Result<serde_json::Value, _> = serde_json::from_reader(BufReader::new(file));
        script.map_err(|error| refuse(format!("is no fault script: {error}")))?;
    }
    Ok(())
}

fn device(environment: &Environment) -> String {
    if environment.plans_only {
        let assumed = match environment.assumed.as_slice() {
            [] => String::new(),
            keys => format!(", assumed of it: {}", keys.join(" ")),
        };
        return format!(
            "no device, plans for {} (sm_{}){assumed}",
            environment.gpu, environment.compute_capability
        );
    }
    format!(
        "{} sm_{}, driver {} (CUDA {})",
        environment.gpu,
        environment.compute_capability,
        if environment.driver.is_empty() { "of unknown release" } else { &environment.driver },
        environment.driver_cuda_text(),
    )
}
