//! What finalizing makes of each kind of descriptor, and what it refuses. Knows the rules between attributes.

use std::rc::Rc;

use abi::cudnn::{Attribute as A, DescriptorType, HeuristicMode};
use case::{Config, Knob, Operation};

use super::descriptor::{Data, Descriptor, Finished};
use super::{BoundEngine, Pack, Plan, device, json};
use crate::engine;
use crate::faults::{Facts, Script, Site};
use crate::problem::{Convolution, Problem, Tensor};
use crate::stop::{self, Ending, Stop};

impl Descriptor {
    /// Checks the attributes and fixes what the descriptor stands for. `devices` tells whether a device can be asked.
    ///
    /// # Errors
    /// The status that the real library gives, or what the fault script wants.
    pub fn finalize(&mut self, script: &Script, devices: bool) -> Result<(), Stop> {
        let finished = match self.kind {
            DescriptorType::TENSOR => Finished::Tensor(self.tensor()?),
            DescriptorType::CONVOLUTION => Finished::Convolution(self.convolution()?),
            DescriptorType::OPERATION_FORWARD
            | DescriptorType::OPERATION_BACKWARD_DATA
            | DescriptorType::OPERATION_BACKWARD_FILTER => Finished::Operation(Rc::new(self.operation()?)),
            DescriptorType::RESAMPLE => Finished::Resample(self.resample()?),
            DescriptorType::OPERATION_RESAMPLE => Finished::Operation(Rc::new(self.pooling()?)),
            DescriptorType::MATMUL => Finished::Matmul(self.matmul()?),
            DescriptorType::OPERATION_MATMUL => Finished::Operation(Rc::new(self.matrices()?)),
            DescriptorType::OPERATION_NORM => Finished::Operation(Rc::new(self.normalization()?)),
            DescriptorType::OPERATION_GRAPH => Finished::Graph(self.graph()?),
            DescriptorType::ENGINE => Finished::Engine(self.engine()?),
            DescriptorType::KNOB_CHOICE => Finished::KnobChoice(Knob {
                knob: i64::from(self.int(A::KNOB_TYPE)?),
                value: self.long(A::KNOB_VALUE)?,
            }),
            DescriptorType::ENGINE_CONFIG => self.config(script)?,
            DescriptorType::ENGINE_HEURISTIC => self.heuristics(script)?,
            DescriptorType::EXECUTION_PLAN => Finished::Plan(self.plan(script)?),
            DescriptorType::VARIANT_PACK => Finished::Pack(self.pack()?),
            DescriptorType::DEVICE_PROPERTIES => Finished::Device(self.device(devices)?),
            _ => return Err(Stop::bad_param("descriptor cannot be finalized")),
        };
        self.finished = Some(Rc::new(finished));
        Ok(())
    }

    fn missing(name: A) -> Stop {
        Stop::bad_param(format!("attribute {} is not set", name.0))
    }

    pub(super) fn longs(&self, name: A) -> Result<&[i64], Stop> {
        match self.set.get(&name.0) {
            Some(Data::Longs(values)) => Ok(values),
            Some(_) | None => Err(Self::missing(name)),
        }
    }

    pub(super) fn long(&self, name: A) -> Result<i64, Stop> {
        self.longs(name)?.first().copied().ok_or_else(|| Self::missing(name))
    }

    pub(super) fn int(&self, name: A) -> Result<i32, Stop> {
        match self.set.get(&name.0) {
            Some(Data::Ints(values)) => values.first().copied().ok_or_else(|| Self::missing(name)),
            Some(_) | None => Err(Self::missing(name)),
        }
    }

    pub(super) fn real(&self, name: A, default: f64) -> f64 {
        match self.set.get(&name.0) {
            Some(Data::Reals(values)) => values.first().copied().unwrap_or(default),
            Some(_) | None => default,
        }
    }

    fn pointers(&self, name: A) -> Option<&[u64]> {
        match self.set.get(&name.0) {
            Some(Data::Pointers(values)) => Some(values),
            Some(_) | None => None,
        }
    }

    fn text(&self, name: A) -> Option<&str> {
        match self.set.get(&name.0) {
            Some(Data::Text(text)) => Some(text),
            Some(_) | None => None,
        }
    }

    fn parts(&self, name: A) -> &[Rc<Finished>] {
        match self.set.get(&name.0) {
            Some(Data::Descriptors(parts)) => parts,
            Some(_) | None => &[],
        }
    }

    pub(super) fn part(&self, name: A) -> Result<&Finished, Stop> {
        self.parts(name).first().map(|part| &**part).ok_or_else(|| Self::missing(name))
    }

    pub(super) fn wrong_kind(name: A) -> Stop {
        Stop::status(stop::DESCRIPTOR_TYPE, format!("attribute {} holds another kind of descriptor", name.0))
    }

    fn tensor(&self) -> Result<Tensor, Stop> {
        let tensor = Tensor {
            dtype: self.int(A::TENSOR_DATA_TYPE)?,
            extents: self.longs(A::TENSOR_DIMENSIONS)?.to_vec(),
            strides: self.longs(A::TENSOR_STRIDES)?.to_vec(),
            alignment: self.long(A::TENSOR_ALIGNMENT)?,
            id: self.long(A::TENSOR_UNIQUE_ID)?,
            vector: self
                .longs(A::TENSOR_VECTOR_COUNT)
                .ok()
                .and_then(|values| values.first().copied())
                .unwrap_or(1),
        };
        if tensor.vector != 1 && self.longs(A::TENSOR_VECTORIZED_DIMENSION) != Ok(&[1]) {
            return Err(Stop::bad_param("the second dimension is what vectors are taken from"));
        }
        tensor.check()?;
        Ok(tensor)
    }

    pub(super) fn tensor_of(&self, name: A) -> Result<Tensor, Stop> {
        let Finished::Tensor(tensor) = self.part(name)? else { return Err(Self::wrong_kind(name)) };
        Ok(tensor.clone())
    }

    fn convolution(&self) -> Result<Convolution, Stop> {
        let convolution = Convolution {
            compute: self.int(A::CONVOLUTION_COMPUTE_TYPE)?,
            mode: self.int(A::CONVOLUTION_MODE)?,
            pad_before: self.longs(A::CONVOLUTION_PRE_PADDINGS)?.to_vec(),
            pad_after: self.longs(A::CONVOLUTION_POST_PADDINGS)?.to_vec(),
            stride: self.longs(A::CONVOLUTION_STRIDES)?.to_vec(),
            dilation: self.longs(A::CONVOLUTION_DILATIONS)?.to_vec(),
        };
        convolution.check(self.long(A::CONVOLUTION_SPATIAL_DIMS)?)?;
        Ok(convolution)
    }

    fn operation(&self) -> Result<Problem, Stop> {
        let (operation, [alpha, beta, convolution, x, w, y]) = operation_attributes(self.kind);
        let Finished::Convolution(geometry) = self.part(convolution)? else {
            return Err(Self::wrong_kind(convolution));
        };
        let problem = Problem {
            operation,
            tensors: [self.tensor_of(x)?, self.tensor_of(w)?, self.tensor_of(y)?],
            convolution: geometry.clone(),
            alpha: self.real(alpha, 1.0),
            beta: self.real(beta, 0.0),
        };
        problem.check()?;
        Ok(problem)
    }

    fn graph(&self) -> Result<Rc<Problem>, Stop> {
        match self.parts(A::GRAPH_OPERATIONS) {
            [] => Err(Self::missing(A::GRAPH_OPERATIONS)),
            [single] => {
                let Finished::Operation(problem) = &**single else {
                    return Err(Self::wrong_kind(A::GRAPH_OPERATIONS));
                };
                Ok(Rc::clone(problem))
            }
            _ => Err(Stop::status(stop::NOT_SUPPORTED, "graphs of one operation only")),
        }
    }

    fn graph_of(&self, name: A) -> Result<Rc<Problem>, Stop> {
        let Finished::Graph(problem) = self.part(name)? else { return Err(Self::wrong_kind(name)) };
        Ok(Rc::clone(problem))
    }

    fn engine(&self) -> Result<BoundEngine, Stop> {
        bind(self.graph_of(A::ENGINE_GRAPH)?, self.long(A::ENGINE_INDEX)?)
    }

    fn config(&self, script: &Script) -> Result<Finished, Stop> {
        let Finished::Engine(engine) = self.part(A::CONFIG_ENGINE)? else {
            return Err(Self::wrong_kind(A::CONFIG_ENGINE));
        };
        let mut knobs = Vec::new();
        for part in self.parts(A::CONFIG_KNOB_CHOICES) {
            let Finished::KnobChoice(knob) = &**part else {
                return Err(Self::wrong_kind(A::CONFIG_KNOB_CHOICES));
            };
            knobs.push(*knob);
        }
        engine.engine.takes_knobs(&knobs)?;
        let facts = Facts { problem: &engine.problem, engine: Some(engine.index), workspace_alignment: None };
        meet(script, Site::Config, &facts)?;
        let honest = (engine.engine.workspace_bytes(&engine.problem, &knobs) - script.lie(&facts)).max(0);
        let announced = honest + script.surplus(&facts, Site::Config);
        Ok(Finished::Config(engine.clone(), knobs, announced))
    }

    fn heuristics(&self, script: &Script) -> Result<Finished, Stop> {
        let problem = self.graph_of(A::HEURISTIC_GRAPH)?;
        let mode = match HeuristicMode(self.int(A::HEURISTIC_MODE)?) {
            HeuristicMode(0) | HeuristicMode::A => case::HeuristicMode::A,
            HeuristicMode::B => case::HeuristicMode::B,
            HeuristicMode::FALLBACK => case::HeuristicMode::Fallback,
            HeuristicMode(other) => return Err(Stop::bad_param(format!("heuristic mode {other}"))),
        };
        let facts = Facts { problem: &problem, engine: None, workspace_alignment: None };
        meet(script, Site::Heuristics, &facts)?;
        let list = engine::recommended(mode, &problem);
        if list.is_empty() {
            return Err(Stop::status(stop::NOT_SUPPORTED, "no engine takes the graph"));
        }
        Ok(Finished::Heuristics(problem, list))
    }

    fn plan(&self, script: &Script) -> Result<Plan, Stop> {
        let targeted =
            self.pointers(A::PLAN_HANDLE).is_some() || !self.parts(A::PLAN_DEVICE_PROPERTIES).is_empty();
        let reloaded = self.text(A::PLAN_JSON).is_some();
        let (mut problem, config) = match self.text(A::PLAN_JSON) {
            // The real library dereferences the device that it was not told.
            Some(_) if !targeted => return Err(Stop::End(Ending::Segfault)),
            Some(text) => {
                let (problem, config) = json::read(text, script.version())?;
                bind(Rc::clone(&problem), config.engine)?.engine.takes_knobs(&config.knobs)?;
                (problem, config)
            }
            None => {
                let Finished::Config(engine, knobs, _) = self.part(A::PLAN_CONFIG)? else {
                    return Err(Self::wrong_kind(A::PLAN_CONFIG));
                };
                (Rc::clone(&engine.problem), Config { engine: engine.index, knobs: knobs.clone() })
            }
        };
        if !targeted {
            return Err(Stop::bad_param("neither handle nor device properties"));
        }
        let facts = Facts { problem: &problem, engine: Some(config.engine), workspace_alignment: None };
        let site = if reloaded { Site::Reload } else { Site::Plan };
        meet(script, site, &facts)?;
        let surplus = if reloaded { script.surplus(&facts, Site::Reload) } else { 0 };
        let honest = engine::engine(problem.operation, config.engine)
            .map_or(0, |engine| engine.workspace_bytes(&problem, &config.knobs));
        let workspace_bytes = (honest - script.lie(&facts)).max(0) + surplus;
        if reloaded && script.garbles(&facts) {
            Rc::make_mut(&mut problem).tensors[0].alignment *= 2;
        }
        Ok(Plan { problem, config, workspace_bytes, version: script.version() })
    }

    fn pack(&self) -> Result<Pack, Stop> {
        let ids = self.longs(A::PACK_UNIQUE_IDS)?.to_vec();
        let pointers = self.pointers(A::PACK_DATA_POINTERS).unwrap_or(&[]).to_vec();
        if ids.len() != pointers.len() {
            return Err(Stop::bad_param("unique ids and pointers differ in number"));
        }
        let workspace =
            self.pointers(A::PACK_WORKSPACE).and_then(|pointers| pointers.first().copied()).unwrap_or(0);
        Ok(Pack { ids, pointers, workspace })
    }

    fn device(&self, devices: bool) -> Result<String, Stop> {
        if let Some(text) = self.text(A::DEVICE_JSON) {
            device::check(text)?;
            return Ok(text.to_owned());
        }
        let asked = self.pointers(A::DEVICE_HANDLE).is_some() || self.int(A::DEVICE_ID).is_ok();
        match (asked, devices) {
            (false, _) => Err(Stop::bad_param("neither device id, handle nor JSON")),
            (true, false) => {
                Err(Stop::status(stop::NOT_INITIALIZED, "cudaGetDeviceCount(&count) != cudaSuccess"))
            }
            (true, true) => Ok(device::PROPERTIES.to_owned()),
        }
    }
}

/// An engine of a graph, where it takes it.
fn bind(problem: Rc<Problem>, index: i64) -> Result<BoundEngine, Stop> {
    let engine = engine::engine(problem.operation, index).ok_or_else(|| {
        let words = format!("engine {index} is not below {}", engine::engines(problem.operation).len());
        Stop::status(stop::OUT_OF_BOUND, words)
    })?;
    engine.takes(&problem)?;
    Ok(BoundEngine { problem, index, engine })
}

/// Comes to what the script wants at a site.
fn meet(script: &Script, site: Site, facts: &Facts<'_>) -> Result<(), Stop> {
    match script.at(site, facts).into_iter().find_map(|acting| acting.action.stop()) {
        Some(stop) => Err(stop),
        None => Ok(()),
    }
}

/// The pass of an operation descriptor, and its attributes: alpha, beta, convolution, x, w, y.
fn operation_attributes(kind: DescriptorType) -> (Operation, [A; 6]) {
    match kind {
        DescriptorType::OPERATION_BACKWARD_DATA => (
            Operation::Dgrad,
            [
                A::BACKWARD_DATA_ALPHA,
                A::BACKWARD_DATA_BETA,
                A::BACKWARD_DATA_CONVOLUTION,
                A::BACKWARD_DATA_DX,
                A::BACKWARD_DATA_W,
                A::BACKWARD_DATA_DY,
            ],
        ),
        DescriptorType::OPERATION_BACKWARD_FILTER => (
            Operation::Wgrad,
            [
                A::BACKWARD_FILTER_ALPHA,
                A::BACKWARD_FILTER_BETA,
                A::BACKWARD_FILTER_CONVOLUTION,
                A::BACKWARD_FILTER_X,
                A::BACKWARD_FILTER_DW,
                A::BACKWARD_FILTER_DY,
            ],
        ),
        _ => (
            Operation::Fprop,
            [
                A::FORWARD_ALPHA,
                A::FORWARD_BETA,
                A::FORWARD_CONVOLUTION,
                A::FORWARD_X,
                A::FORWARD_W,
                A::FORWARD_Y,
            ],
        ),
    }
}
