//! Engines, configurations and plans. A plan is a value: it can be stored as cuDNN's JSON and loaded again.

use std::rc::Rc;

use abi::cudnn::{Attribute, AttributeType, DescriptorType, Handle, KNOBS_MAX, NOTES_MAX};
use case::{Config, Knob, KnobRange, Notes, Phase};

use crate::cudnn::Cudnn;
use crate::descriptor::Descriptor;
use crate::error::CallError;
use crate::graph::{Graph, Target};
use crate::operation::Operands;

/// One entry of a heuristic list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recommendation {
    /// Engine and knobs.
    pub config: Config,
}

/// A finalized engine of a graph.
pub struct Engine {
    library: Rc<Cudnn>,
    target: Target,
    operands: Operands,
    descriptor: Descriptor,
    notes: Notes,
}

impl Engine {
    pub(crate) fn new(graph: &Graph, index: i64) -> Result<Self, CallError> {
        let descriptor = Descriptor::new(graph.library(), DescriptorType::ENGINE, Phase::Plan)?;
        descriptor.set_descriptors(Attribute::ENGINE_GRAPH, &[graph.raw()])?;
        descriptor.set_i64(Attribute::ENGINE_INDEX, &[index])?;
        graph.target().apply(&descriptor, None, Some(Attribute::ENGINE_DEVICE_PROPERTIES))?;
        descriptor.finalize()?;
        // An engine without notes may answer with a status instead of a count of 0; both mean none.
        let notes = |name, kind| descriptor.get_i32s(name, kind, NOTES_MAX).unwrap_or_default();
        let notes = Notes {
            numerical: notes(Attribute::ENGINE_NUMERICAL_NOTES, AttributeType::NUMERICAL_NOTE),
            behavior: notes(Attribute::ENGINE_BEHAVIOR_NOTES, AttributeType::BEHAVIOR_NOTE),
        };
        Ok(Self {
            library: Rc::clone(graph.library()),
            target: graph.target().clone(),
            operands: graph.operands().clone(),
            descriptor,
            notes,
        })
    }

    /// What the engine declares.
    #[must_use]
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// The knobs of the engine and their ranges.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn knobs(&self) -> Result<Vec<KnobRange>, CallError> {
        let infos = self.descriptor.get_descriptors(
            Attribute::ENGINE_KNOB_INFO,
            DescriptorType::KNOB_INFO,
            KNOBS_MAX,
        )?;
        infos
            .iter()
            .map(|info| {
                let types = info.get_i32s(Attribute::KNOB_INFO_TYPE, AttributeType::KNOB_TYPE, 1)?;
                Ok(KnobRange {
                    knob: types.first().copied().map_or(-1, i64::from),
                    minimum: info.get_i64(Attribute::KNOB_INFO_MINIMUM)?,
                    maximum: info.get_i64(Attribute::KNOB_INFO_MAXIMUM)?,
                    stride: info.get_i64(Attribute::KNOB_INFO_STRIDE)?,
                })
            })
            .collect()
    }

    fn choice(&self, knob: &Knob) -> Result<Descriptor, CallError> {
        let choice = Descriptor::new(&self.library, DescriptorType::KNOB_CHOICE, Phase::Plan)?;
        let number = i32::try_from(knob.knob).unwrap_or(i32::MAX);
        choice.set_i32(Attribute::KNOB_TYPE, AttributeType::KNOB_TYPE, number)?;
        choice.set_i64(Attribute::KNOB_VALUE, &[knob.value])?;
        choice.finalize()?;
        Ok(choice)
    }

    /// Builds the plan of this engine with those knobs; none means the defaults.
    ///
    /// # Errors
    /// cuDNN's status at the configuration or the plan.
    pub fn plan(&self, knobs: &[Knob]) -> Result<Plan, CallError> {
        let config = Descriptor::new(&self.library, DescriptorType::ENGINE_CONFIG, Phase::Plan)?;
        config.set_descriptors(Attribute::CONFIG_ENGINE, &[&self.descriptor])?;
        let choices = knobs.iter().map(|knob| self.choice(knob)).collect::<Result<Vec<_>, _>>()?;
        if !choices.is_empty() {
            let choices: Vec<&Descriptor> = choices.iter().collect();
            config.set_descriptors(Attribute::CONFIG_KNOB_CHOICES, &choices)?;
        }
        config.finalize()?;
        let announced = match &self.target {
            Target::Handle(_) => None,
            // Versions before 9.2 tell none.
            Target::Properties(_) => config.get_i64(Attribute::CONFIG_WORKSPACE_SIZE).ok(),
        };
        let plan = Descriptor::new(&self.library, DescriptorType::EXECUTION_PLAN, Phase::Plan)?;
        self.target.apply(&plan, Some(Attribute::PLAN_HANDLE), Some(Attribute::PLAN_DEVICE_PROPERTIES))?;
        plan.set_descriptors(Attribute::PLAN_CONFIG, &[&config])?;
        plan.finalize()?;
        let plan = Plan::read(&self.library, plan, self.operands.clone())?;
        Ok(Plan { announced_bytes: announced, ..plan })
    }
}

/// A finalized execution plan.
pub struct Plan {
    library: Rc<Cudnn>,
    descriptor: Descriptor,
    operands: Operands,
    workspace_bytes: i64,
    announced_bytes: Option<i64>,
}

impl Plan {
    fn read(library: &Rc<Cudnn>, descriptor: Descriptor, operands: Operands) -> Result<Self, CallError> {
        let workspace_bytes = descriptor.get_i64(Attribute::PLAN_WORKSPACE_SIZE)?;
        Ok(Self { library: Rc::clone(library), descriptor, operands, workspace_bytes, announced_bytes: None })
    }

    /// Loads a plan of that graph which `to_json` stored, possibly on another machine.
    ///
    /// # Errors
    /// cuDNN's status: another version, another device, or text that it does not take.
    pub fn from_json(graph: &Graph, json: &str) -> Result<Self, CallError> {
        let (library, target) = (graph.library(), graph.target());
        let plan = Descriptor::new(library, DescriptorType::EXECUTION_PLAN, Phase::Plan)?;
        target.apply(&plan, Some(Attribute::PLAN_HANDLE), Some(Attribute::PLAN_DEVICE_PROPERTIES))?;
        plan.set_text(Attribute::PLAN_JSON, json)?;
        plan.finalize()?;
        Self::read(library, plan, graph.operands().clone())
    }

    /// The plan as cuDNN's JSON; a run-time-compiled one holds machine code of the library.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn to_json(&self) -> Result<String, CallError> {
        self.descriptor.get_text(Attribute::PLAN_JSON)
    }

    /// Workspace that the plan asks for, bytes. May be negative where the library is wrong.
    #[must_use]
    pub fn workspace_bytes(&self) -> i64 {
        self.workspace_bytes
    }

    /// Workspace that its configuration announced, bytes, where it was asked.
    #[must_use]
    pub fn announced_bytes(&self) -> Option<i64> {
        self.announced_bytes
    }

    /// Launches the plan on the handle's stream. `tensors` are the addresses of x, w, y, of which those that the
    /// operation has are passed; a workspace of no bytes is passed as null.
    ///
    /// # Errors
    /// cuDNN's status.
    pub fn execute(&self, handle: Handle, tensors: [u64; 3], workspace: u64) -> Result<(), CallError> {
        let pack = Descriptor::new(&self.library, DescriptorType::VARIANT_PACK, Phase::Execute)?;
        let (ids, pointers) = self.operands.pack(tensors);
        pack.set_i64(Attribute::PACK_UNIQUE_IDS, &ids)?;
        pack.set_pointers(Attribute::PACK_DATA_POINTERS, &pointers)?;
        pack.set_pointers(Attribute::PACK_WORKSPACE, &[workspace])?;
        pack.finalize()?;
        self.library.execute(handle, self.descriptor.raw(), pack.raw())
    }
}
