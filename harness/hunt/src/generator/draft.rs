//! A geometry in the making: a few sizes and options, shrunk on demand until it is legal and affordable.
//! Knows the rules of convolution, and leaves those of other operations to `operations`; knows nothing of why a zone is
//! dangerous.

use case::{Axis, Case, DType, DTypes, Layout, Layouts, Operation, Options, Problem, Role};
use rand::rngs::StdRng;

use super::operations;
use super::style::{Style, pick};
use super::{Limits, Operations};

/// Shrinking steps before a draft is given up: each at least halves one field.
const SHRINK_STEPS_MAX: u32 = 400;

/// A size that shrinking may lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Batch.
    Batch,
    /// Channels of x in one group.
    GroupC,
    /// Channels of y in one group.
    GroupK,
    /// Groups.
    Groups,
    /// Input extent of an axis.
    Input(usize),
    /// Filter taps of an axis.
    Filter(usize),
}

/// The sizes and options of one geometry, before it becomes a case of each operation.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Type of all tensors.
    pub(super) dtype: DType,
    /// Type that the written tensor has instead.
    pub(super) output_dtype: Option<DType>,
    /// Compute type where it is not the default.
    pub(super) compute: Option<DType>,
    /// Memory orders.
    pub(super) layouts: Layouts,
    /// Batch.
    pub(super) n: i64,
    /// Channels of x in one group.
    pub(super) group_c: i64,
    /// Channels of y in one group.
    pub(super) group_k: i64,
    /// Groups.
    pub(super) g: i64,
    /// Spatial dimensions.
    pub(super) axes: Vec<Axis>,
    /// Everything but the problem.
    pub(super) options: Options,
    /// Added to the last extent of y, to be refused.
    pub(super) output_error: i64,
    /// Limits that the zones may aim at.
    pub(super) limits: Limits,
    /// Family that shrunk extents come from.
    pub(super) style: Style,
    operations: Operations,
    held: Vec<Field>,
    heavy: bool,
}

impl Draft {
    /// The case that always fits: one product.
    pub(super) fn plain(operations: Operations) -> Self {
        Self {
            dtype: DType::F32,
            output_dtype: None,
            compute: None,
            layouts: Layouts::uniform(Layout::Nchw),
            n: 1,
            group_c: 1,
            group_k: 1,
            g: 1,
            axes: vec![Axis::plain(1, 1); 2],
            options: Options::default(),
            output_error: 0,
            limits: Limits { bytes_max: 0, elements_max: 0, multiply_adds_max: 0 },
            style: Style::Logarithmic,
            operations,
            held: Vec::new(),
            heavy: false,
        }
    }

    /// The written tensor gets a type of another width than the ones read.
    pub(super) fn widen_output(&mut self) {
        self.output_dtype = match self.dtype {
            DType::F16 | DType::Bf16 => Some(DType::F32),
            DType::F32 => Some(DType::F16),
            DType::I8 => Some(DType::I32),
            DType::F64 | DType::I32 => None,
        };
    }

    /// True where every operation of the geometry is a convolution, which alone may have its channels in vectors.
    pub(super) fn takes_vectors(&self) -> bool {
        self.operations.iter().all(Operation::is_convolution)
    }

    /// Keeps shrinking away from a field, as long as another can give way.
    pub(super) fn hold(&mut self, field: Field) {
        self.held.push(field);
    }

    /// Sets a field and holds it.
    pub(super) fn fix(&mut self, field: Field, value: i64) {
        self.set(field, value);
        self.hold(field);
    }

    /// Lets the geometry use the whole limits: memory as well as work.
    pub(super) fn mark_heavy(&mut self) {
        self.heavy = true;
    }

    /// True once something asked for the whole limits.
    pub(super) fn heavy(&self) -> bool {
        self.heavy
    }

    /// The value of a field.
    pub(super) fn get(&self, field: Field) -> i64 {
        match field {
            Field::Batch => self.n,
            Field::GroupC => self.group_c,
            Field::GroupK => self.group_k,
            Field::Groups => self.g,
            Field::Input(axis) => self.axes[axis].input,
            Field::Filter(axis) => self.axes[axis].filter,
        }
    }

    /// Sets a field.
    pub(super) fn set(&mut self, field: Field, value: i64) {
        match field {
            Field::Batch => self.n = value,
            Field::GroupC => self.group_c = value,
            Field::GroupK => self.group_k = value,
            Field::Groups => self.g = value,
            Field::Input(axis) => self.axes[axis].input = value,
            Field::Filter(axis) => self.axes[axis].filter = value,
        }
    }

    fn fields(&self) -> Vec<Field> {
        let spatial = (0..self.axes.len()).flat_map(|axis| [Field::Input(axis), Field::Filter(axis)]);
        [Field::Batch, Field::GroupC, Field::GroupK, Field::Groups].into_iter().chain(spatial).collect()
    }

    /// Shrinks fields that nothing holds, largest first, until the draft is legal and within the limits; a
    /// held field gives way only when no other can.
    pub(super) fn fit(&mut self, rng: &mut StdRng, limits: Limits) {
        for _ in 0..SHRINK_STEPS_MAX {
            self.repair();
            let excess = self.excess(limits);
            if excess == Excess::None {
                return;
            }
            let Some(field) = self.shrinkable(rng, excess) else {
                if self.held.is_empty() {
                    return;
                }
                self.held.clear();
                continue;
            };
            let value = self.get(field);
            let smaller = self.style.shrunk(rng, (value / 4).max(1), value / 2);
            self.set(field, smaller);
        }
    }

    /// Multiply-adds that the held fields alone ask for: everything else at 1.
    pub(super) fn held_work(&self) -> i64 {
        if self.held.is_empty() {
            return 0;
        }
        let mut least = self.clone();
        for field in self.fields() {
            if !self.held.contains(&field) {
                least.set(field, 1);
            }
        }
        least.repair();
        least.cases().iter().map(|case| case.problem.geometry().multiply_adds()).max().unwrap_or(0)
    }

    fn excess(&self, limits: Limits) -> Excess {
        let cases = self.cases();
        let too_large = |case: &&Case| {
            let geometry = case.problem.geometry();
            geometry.total_bytes() > limits.bytes_max
                || Role::ALL.into_iter().any(|role| geometry.elements(role) > limits.elements_max)
        };
        if let Some(case) = cases.iter().find(too_large) {
            let geometry = case.problem.geometry();
            let convolution = case.problem.operation.is_convolution();
            let roles = Role::ALL.into_iter().filter(|_| convolution);
            return Excess::Memory(roles.max_by_key(|role| geometry.elements(*role)));
        }
        let repeat = i64::from(self.options.repeat);
        let work = |case: &Case| case.problem.geometry().multiply_adds().saturating_mul(repeat);
        if cases.iter().any(|case| work(case) > limits.multiply_adds_max) {
            Excess::Work
        } else {
            Excess::None
        }
    }

    /// A free field worth shrinking: one of those at least a quarter as large as the largest.
    fn shrinkable(&self, rng: &mut StdRng, excess: Excess) -> Option<Field> {
        let free: Vec<Field> = self
            .fields()
            .into_iter()
            .filter(|field| !self.held.contains(field) && self.get(*field) > 1)
            .filter(|field| excess.is_due_to(*field))
            .collect();
        let largest = free.iter().map(|field| self.get(*field)).max()?;
        let worthy: Vec<Field> = free.into_iter().filter(|field| self.get(*field) * 4 >= largest).collect();
        Some(pick(rng, &worthy))
    }

    /// Makes every axis have an output: dilation gives way, then the filter.
    fn repair(&mut self) {
        // No vector of channels belongs to two groups.
        let vectors = |value: i64, vector: i64| (value + vector - 1) / vector * vector;
        self.group_c = vectors(self.group_c, self.layouts.w.vector());
        self.group_k = vectors(self.group_k, self.layouts.y.vector());
        for axis in &mut self.axes {
            let padded = axis.input + axis.pad_before + axis.pad_after;
            if axis.filter > 1 {
                axis.dilation = axis.dilation.min(((padded - 1) / (axis.filter - 1)).max(1));
            }
            axis.filter = axis.filter.min(padded);
        }
    }

    /// Every operation of this geometry.
    pub(super) fn cases(&self) -> Vec<Case> {
        self.operations.iter().map(|operation| self.case(operation)).collect()
    }

    /// One operation of this geometry.
    pub(super) fn case(&self, operation: Operation) -> Case {
        let mut tensors = [self.dtype; 3];
        if let Some(output) = self.output_dtype {
            tensors[operation.output().index()] = output;
        }
        let compute = self.compute.unwrap_or_else(|| DTypes::default_compute(tensors));
        let [x, w, y] = tensors;
        let problem = Problem {
            operation,
            dtypes: DTypes { x, w, y, compute },
            layouts: self.layouts,
            n: self.n,
            c: self.group_c * self.g,
            k: self.group_k * self.g,
            g: self.g,
            axes: self.axes.clone(),
            declared_output: operations::declared(&self.axes, self.output_error),
        };
        let case = Case { options: self.options.clone(), ..Case::new(problem) };
        if operation.is_convolution() { case } else { operations::adapted(case, self.output_error) }
    }

    /// Draws an extent in the draft's own family.
    pub(super) fn extent(&self, rng: &mut StdRng, least: i64, most: i64) -> i64 {
        self.style.extent(rng, least, most)
    }
}

/// What a draft has too much of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Excess {
    None,
    /// Of memory; of a convolution, this tensor has the most elements.
    Memory(Option<Role>),
    Work,
}

impl Excess {
    /// True where less of that field means less of what is too much. Filters keep their taps where memory is
    /// short: channels make a filter large.
    fn is_due_to(self, field: Field) -> bool {
        match (self, field) {
            (Self::None, _) | (Self::Memory(_), Field::Filter(_)) => false,
            (Self::Memory(Some(Role::W)), Field::Batch | Field::Input(_)) => false,
            (Self::Memory(Some(Role::X)), Field::GroupK) | (Self::Memory(Some(Role::Y)), Field::GroupC) => {
                false
            }
            (Self::Memory(_) | Self::Work, _) => true,
        }
    }
}
