//! `convict ladder`: rung by rung, and what it means where it breaks. Knows the order and the words for a user; what
//! stands on a rung is the ladder's own matter.

mod told;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use case::{Environment, Pressure, Training};
use gate::Allowed;
use ladder::{Record, Rung, Seen, Shapes, Stored, Stress, Trained};

use crate::args::Ladder;
use crate::commands::hunt::cores;
use crate::failure::Failure;
use crate::machine::Machine;
use crate::named;
use crate::screen::errln;
use crate::side::Side;
use told::Told;

/// Most multiply-adds that the simulator, a CPU, is asked for. A GPU has no limit.
const WORK_SIMULATED: i64 = 2_000_000;

/// The networks that are trained: a CPU gets a smaller one.
const NETS: [&str; 2] = ["plain", "half"];
const NETS_SIMULATED: [&str; 1] = ["small"];

/// Largest file of plans that is read, bytes.
const STORED_MAX: u64 = 1 << 30;

/// Climbs and tells.
pub(crate) fn run(arguments: &Ladder) -> Result<u8, Failure> {
    check(arguments)?;
    let stored = arguments.stale_plans.as_deref().map(stored).transpose()?;
    let stale = arguments.stale_plans.as_deref();
    let claim = |path: &PathBuf| Side::claim("--save-plans", path, stale);
    let saved = arguments.save_plans.as_ref().map(claim).transpose()?;
    let plain = Machine::new(&arguments.machine, &arguments.device.device, None)?;
    plain.prepare()?;
    let pressed = pressed(arguments)?;
    let machine = pressed.as_ref().unwrap_or(&plain);
    let mut told = Told::new(arguments, stresses(arguments));
    let (mut first, mut slot) = (plain.slot(), machine.slot());
    let described = |environment: &Environment| plain.describe(environment);
    told.add(ladder::answers(&mut first, pressed.as_ref().map(|_| &mut slot), &described)?);
    if told.is_lost() {
        return told.finish("a rung below broke");
    }
    let environment = first.environment()?.clone();
    // Its memory is for the workers that follow.
    drop(first);
    told.set = environment.set();
    refuse_fresh(stored.as_ref(), &told.set)?;
    let wanted = |rung: Rung| arguments.rung.is_none_or(|one| one == rung.number());
    if wanted(Rung::Tiny) {
        told.add(ladder::tiny(&mut slot, workspace_max(arguments), stored.as_ref())?);
    }
    if told.broke() {
        return told.finish("a rung below broke");
    }
    // What a worker holds is wanted by those of the next rung.
    slot.fresh();
    if wanted(Rung::Shapes) {
        told.add(shapes(arguments, machine)?);
    }
    if wanted(Rung::Training) && !told.is_lost() {
        let trainings = trainings(arguments, machine.simulated());
        let Trained { seen, records } = ladder::train(&mut slot, &trainings)?;
        told.add(seen);
        save(saved.as_ref(), &environment, &trainings, &records)?;
    }
    let why = if told.is_lost() { "a rung below broke" } else { "not asked for" };
    told.finish(why)
}

/// What no worker needs to find out.
fn check(arguments: &Ladder) -> Result<(), Failure> {
    if let Some(folder) = &arguments.second_stack {
        let refuse = |why: &str| Err(Failure::Usage(format!("--second-stack {}: {why}", folder.display())));
        let Ok(entries) = fs::read_dir(folder) else { return refuse("is no folder that can be read") };
        let of_cuda = |name: &str| {
            ["libcu", "libnv"].iter().any(|start| name.starts_with(start)) && name.contains(".so")
        };
        let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        if !names.any(|name| of_cuda(&name)) {
            return refuse(
                "holds no library of CUDA; name the folder of a stack's libcudart, libcublasLt or libcudnn",
            );
        }
    }
    let lacks = |option: &str, rung: u8| {
        Err(Failure::Usage(format!("{option} is about rung {rung}, which --rung leaves out")))
    };
    match arguments.rung {
        Some(rung) if rung != 1 && arguments.stale_plans.is_some() => lacks("--stale-plans", 1),
        Some(rung) if rung != 3 && arguments.save_plans.is_some() => lacks("--save-plans", 3),
        Some(_) | None => Ok(()),
    }
}

fn stored(path: &Path) -> Result<Stored, Failure> {
    let refuse = |why: String| Failure::Usage(format!("--stale-plans {}: {why}", path.display()));
    let text = named::text(path, STORED_MAX).map_err(refuse)?;
    Stored::read(&text).map_err(refuse)
}

/// Plans of the very set that is tested show nothing.
fn refuse_fresh(stored: Option<&Stored>, set: &str) -> Result<(), Failure> {
    match stored {
        Some(stored) if stored.set == set => Err(Failure::Usage(format!(
            "--stale-plans: {set} saved them, which is what is tested; save them with another version"
        ))),
        Some(_) | None => Ok(()),
    }
}

/// The machine under what was asked for, where anything was that concerns its workers.
fn pressed(arguments: &Ladder) -> Result<Option<Machine>, Failure> {
    let fragmented = arguments.fragment;
    let pressure = arguments.memory_left.map(|left_bytes| Pressure { left_bytes, fragmented });
    if pressure.is_none() && arguments.second_stack.is_none() {
        return Ok(None);
    }
    let machine = Machine::new(&arguments.machine, &arguments.device.device, None)?;
    let machine = machine.under(arguments.second_stack.clone(), pressure);
    machine.prepare()?;
    Ok(Some(machine))
}

fn stresses(arguments: &Ladder) -> Vec<Stress> {
    let asked = [
        (arguments.memory_left.is_some(), Stress::Memory),
        (arguments.workspace_limit.is_some(), Stress::Workspace),
        (arguments.second_stack.is_some(), Stress::SecondStack),
        (arguments.stale_plans.is_some(), Stress::StalePlans),
    ];
    asked.into_iter().filter_map(|(asked, stress)| asked.then_some(stress)).collect()
}

fn workspace_max(arguments: &Ladder) -> Option<i64> {
    arguments.workspace_limit.map(|most| i64::try_from(most).unwrap_or(i64::MAX))
}

fn shapes(arguments: &Ladder, machine: &Machine) -> Result<Seen, Failure> {
    let cases = ladder::cases(if machine.simulated() { WORK_SIMULATED } else { 0 }).map_err(Failure::Ours)?;
    // Each worker would take memory away from the others.
    let workers = if arguments.memory_left.is_some() { 1 } else { cores().max(1) };
    let asked = Shapes {
        cases: &cases,
        workspace_max: workspace_max(arguments),
        allowed: Allowed {
            until: Instant::now().checked_add(Duration::from_secs(arguments.seconds)),
            interrupt: machine.interrupt().clone(),
        },
    };
    let seen = ladder::shapes(&asked, machine.slots(workers), || machine.slot())?;
    if machine.interrupt().is_set() { Err(Failure::Interrupted) } else { Ok(seen) }
}

fn trainings(arguments: &Ladder, simulated: bool) -> Vec<(&'static str, Training)> {
    let names: &[&str] = if simulated { &NETS_SIMULATED } else { &NETS };
    let training = |name: &&'static str| {
        let training = ladder::training(name)?;
        let workspace_max = workspace_max(arguments);
        Some((*name, Training { workspace_max, keeps_plans: arguments.save_plans.is_some(), ..training }))
    };
    names.iter().filter_map(training).collect()
}

fn save(
    saved: Option<&Side>,
    environment: &Environment,
    trainings: &[(&str, Training)],
    records: &[Record],
) -> Result<(), Failure> {
    let Some(saved) = saved else { return Ok(()) };
    let (set, gpu) = (environment.set(), &environment.gpu);
    let plans =
        trainings.iter().zip(records).map(|((_, training), record)| Stored::of(training, record, &set, gpu));
    let stored = plans.reduce(|mut all, more| {
        all.join(more);
        all
    });
    match stored {
        Some(stored) if !stored.plans.is_empty() => {
            let text = stored.print().map_err(Failure::Ours)?;
            saved.put(&text)?;
            errln!("convict: {} plans saved in {}", stored.plans.len(), saved.path().display());
        }
        Some(_) | None => {
            errln!("convict: there are no plans to save; {} is not written", saved.path().display())
        }
    }
    Ok(())
}
