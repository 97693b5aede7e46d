//! The opened libraries of a worker and everything that outlives a job: device, kernels, handle, built plans.
//! Knows what was opened from where; runs no case.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use case::{Case, Config, Environment, HeuristicMode, Notes, Phase, Problem, Scale, WorkerOptions};
use gpu::library::{self, Found};
use gpu::{Arena, CallError, Cudnn, Driver, Graph, Kernels, LoadError, Meter, Plan, Target};

use crate::board::Board;
use crate::hashes::Hashes;
use crate::inventory;

/// Plans kept per worker: confirmation and minimization come back to the same few.
const PLANS_MAX: usize = 64;

/// Share of the whole device memory that all workers together may use.
const MEMORY_SHARE: f64 = 0.85;

/// Small convolutions, of which every library takes one: the run-time-compiled engines of cuDNN 9.12 alone have no plan
/// for the first.
const SMALLEST: [&str; 2] = ["fprop f32 nchw n1 c1 k1 i1x4 f1x1", "fprop f16 nhwc n1 c8 k8 i4x4 f1x1"];

/// What a plan depends on within one library set and device.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PlanKey {
    problem: Problem,
    alpha: Scale,
    beta: Scale,
    config: Config,
}

/// A built plan and what its engine declares.
pub(crate) struct Built {
    pub(crate) plan: Plan,
    pub(crate) notes: Notes,
}

/// The device half of a session; absent where plans are only built.
pub(crate) struct Device {
    pub(crate) driver: Rc<Driver>,
    pub(crate) kernels: Kernels,
    pub(crate) arena: Arena,
    pub(crate) handle: abi::cudnn::Handle,
}

/// Everything a worker has open.
pub(crate) struct Session {
    pub(crate) options: WorkerOptions,
    pub(crate) library: Rc<Cudnn>,
    pub(crate) target: Target,
    pub(crate) device: Option<Device>,
    pub(crate) environment: Environment,
    /// The file that was opened as cuDNN.
    dispatcher: PathBuf,
    meter: Rc<Meter>,
    plans: RefCell<PlanCache>,
}

/// The plans built last, oldest first out.
#[derive(Default)]
struct PlanCache {
    plans: HashMap<PlanKey, Rc<Built>>,
    order: VecDeque<PlanKey>,
}

impl PlanCache {
    fn keep(&mut self, key: PlanKey, built: Rc<Built>) {
        if self.order.len() == PLANS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.plans.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.plans.insert(key, built);
    }
}

impl Session {
    /// Opens driver, kernels, cuDNN and its companions, makes a handle, and proves with the smallest convolution that
    /// heuristics answer. Where the options give device properties, no device is used and plans are built for those.
    ///
    /// # Errors
    /// One line for the user.
    pub(crate) fn open(options: WorkerOptions, board: &Board) -> Result<Self, LoadError> {
        board.announce(Phase::Load);
        let meter = Rc::new(Meter::default());
        let found = library::find(&options)?;
        let properties = match &options.properties {
            Some(path) => Some(std::fs::read_to_string(path).map_err(|error| {
                LoadError::Machine(format!("--properties {}: {error}; name a readable file", path.display()))
            })?),
            None => None,
        };
        let driver = match &properties {
            Some(_) => None,
            None => Some(Rc::new(Driver::open(
                options.driver.as_deref(),
                options.device,
                options.simulated,
                Rc::clone(&meter),
            )?)),
        };
        let library = library::open(&found, &options, Rc::clone(&meter))?;
        board.announce(Phase::Init);
        let given = properties.clone();
        let (target, device) = match (properties, driver) {
            (Some(properties), _) => (Target::from_properties(&library, &properties).map_err(told)?, None),
            (None, Some(driver)) => {
                let device = Device::open(&options, driver, &library)?;
                (Target::Handle(device.handle), Some(device))
            }
            (None, None) => return Err(LoadError::Ours("neither a device nor its properties".to_owned())),
        };
        let mut session = Self {
            environment: environment(&options, &found, &library, (device.as_ref(), given)),
            dispatcher: found.dispatcher.clone(),
            options,
            library,
            target,
            device,
            meter,
            plans: RefCell::default(),
        };
        session.warm_up()?;
        session.take_inventory(false)?;
        if let (Some(pressure), Some(device)) = (session.options.pressure, &session.device) {
            gpu::press(&device.driver, pressure)?;
        }
        Ok(session)
    }

    /// Asks heuristics for small convolutions until they recommend something, so that every sub-library is mapped
    /// before it is recorded.
    fn warm_up(&self) -> Result<(), LoadError> {
        for line in SMALLEST {
            let case: Case =
                line.parse().map_err(|error: case::CaseError| LoadError::Ours(error.to_string()))?;
            let graph = Graph::new(&self.library, &self.target, &case).map_err(told)?;
            if let Some(best) = graph.recommendations(HeuristicMode::A).map_err(told)?.first() {
                return self.built(&graph, &case, &best.config).map(|_| ()).map_err(told);
            }
        }
        Err(LoadError::Machine(format!(
            "cuDNN recommends nothing for the smallest cases ({})",
            SMALLEST.join("; ")
        )))
    }

    fn conflict(&self, paths: &[PathBuf]) -> String {
        match &self.options.second_stack {
            Some(second) => inventory::conflict_beside(second, &self.dispatcher, paths),
            None => inventory::conflict(paths),
        }
    }

    /// Why the cuDNN files that are mapped now do not belong together; empty where they do or where nobody can tell.
    pub(crate) fn present_conflict(&self) -> String {
        inventory::real_paths().map(|paths| self.conflict(&paths)).unwrap_or_default()
    }

    /// Records the mapped files and whether they belong together.
    ///
    /// # Errors
    /// An unreadable memory map.
    pub(crate) fn take_inventory(&mut self, hashed: bool) -> Result<(), LoadError> {
        let unreadable = |error: std::io::Error| LoadError::Ours(format!("/proc/self/maps: {error}"));
        let hashes = hashed.then(|| Hashes::shared(&self.options.gate));
        self.environment.files = inventory::mapped(hashes.as_ref()).map_err(unreadable)?;
        let paths = inventory::real_paths().map_err(unreadable)?;
        self.environment.conflict = self.conflict(&paths);
        let driver = self.environment.files.iter().find(|file| file.name.starts_with("libcuda.so"));
        // A release has dots; the 1 of libcuda.so.1 is the interface's version.
        let release = driver.map(|file| file.version.clone()).filter(|version| version.contains('.'));
        self.environment.driver = release.unwrap_or_default();
        Ok(())
    }

    /// The plan of a configuration, built now or earlier in this process, and whether it was built now.
    ///
    /// # Errors
    /// cuDNN's status.
    pub(crate) fn built(
        &self,
        graph: &Graph,
        case: &Case,
        config: &Config,
    ) -> Result<(Rc<Built>, bool), CallError> {
        let key = PlanKey {
            problem: case.problem.clone(),
            alpha: case.options.alpha,
            beta: case.options.beta,
            config: config.clone(),
        };
        if let Some(built) = self.plans.borrow().plans.get(&key) {
            return Ok((Rc::clone(built), false));
        }
        let engine = graph.engine(config.engine)?;
        let plan = engine.plan(&config.knobs)?;
        let built = Rc::new(Built { plan, notes: engine.notes().clone() });
        self.plans.borrow_mut().keep(key, Rc::clone(&built));
        Ok((built, true))
    }

    /// Time spent in foreign calls since the last reading.
    pub(crate) fn take_foreign(&self) -> Duration {
        self.meter.take()
    }
}

impl Device {
    fn open(options: &WorkerOptions, driver: Rc<Driver>, library: &Rc<Cudnn>) -> Result<Self, LoadError> {
        let kernels = Kernels::load(Rc::clone(&driver))?;
        let handle = library.handle(&driver).map_err(told)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a byte count"
        )]
        let share = |bytes: u64| (bytes as f64 * MEMORY_SHARE * options.memory_share) as u64;
        let limit = match options.pressure {
            Some(pressure) => share(driver.facts().memory_bytes).min(share(pressure.left_bytes)),
            None => share(driver.facts().memory_bytes),
        };
        let arena = Arena::new(Rc::clone(&driver), limit);
        Ok(Self { driver, kernels, arena, handle })
    }
}

/// A call that failed while the session was opened is the machine's trouble.
fn told(error: CallError) -> LoadError {
    LoadError::Machine(error.to_string())
}

fn environment(
    options: &WorkerOptions,
    found: &Found,
    library: &Rc<Cudnn>,
    (device, properties): (Option<&Device>, Option<String>),
) -> Environment {
    let facts = device.map(|device| device.driver.facts().clone()).unwrap_or_default();
    let ordinal = i32::try_from(options.device).unwrap_or(0);
    let device_properties = match (device, properties) {
        // A version that can't give them leaves the field empty; planning elsewhere is then not possible.
        (Some(_), _) => Target::properties_of_device(library, ordinal).unwrap_or_default(),
        (None, given) => given.unwrap_or_default(),
    };
    let (gpu, compute_capability) = match device {
        Some(_) => (facts.name, facts.compute_capability),
        None => planned_device(&device_properties),
    };
    Environment {
        gpu,
        devices_visible: facts.visible,
        compute_capability,
        memory_bytes: facts.memory_bytes,
        memory_free_bytes: facts.memory_free_bytes,
        driver_cuda: facts.driver_cuda,
        cudnn: library.version(),
        cudart: library.cudart_version(),
        configuration: Some(found.configuration),
        found: found.how.clone(),
        device_properties,
        plans_only: device.is_none(),
        assumed: options.assumed.clone(),
        ..Environment::default()
    }
}

/// Name and compute capability (times 10) of device properties.
fn planned_device(properties: &str) -> (String, u32) {
    let value: serde_json::Value = serde_json::from_str(properties).unwrap_or_default();
    let name = value["deviceName"].as_str().unwrap_or_default().to_owned();
    let version = value["deviceVer"].as_u64().and_then(|version| u32::try_from(version / 10).ok());
    (name, version.unwrap_or_default())
}
