//! The integer fields of a case, read and written alike. Knows where each lives, which operation has it and its least
//! value; widths are per group, so that no edit of one field can break divisibility.

use case::{Axis, Case, Operation, Workspace, WorkspaceAmount};

/// One integer of a case. Axis fields carry the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Field {
    Batch,
    Input(usize),
    ChannelsPerGroup,
    FiltersPerGroup,
    /// Groups at fixed widths: totals follow. The channels of a pooling, the length of a row that is normalized, the
    /// batch of matrices.
    Groups,
    Filter(usize),
    Dilation(usize),
    Stride(usize),
    PadBefore(usize),
    PadAfter(usize),
    /// An output extent declared wrongly on purpose.
    Declared(usize),
    Repeat,
    /// Bytes of `ws=+BYTES` and `ws=max:BYTES`.
    WorkspaceBytes,
    /// Distance of the workspace alignment from 256, in powers of two.
    Misalignment,
}

impl Field {
    /// Every field of a case, in the order in which integers are lowered.
    pub(crate) fn all(case: &Case) -> Vec<Self> {
        let axes = 0..case.problem.axes.len();
        let declared = case.problem.declared_output.as_ref().map_or(0, Vec::len);
        let mut fields = vec![Self::Batch];
        fields.extend(axes.clone().map(Self::Input));
        fields.extend([Self::ChannelsPerGroup, Self::FiltersPerGroup, Self::Groups]);
        for of in [Self::Filter, Self::Dilation, Self::Stride, Self::PadBefore, Self::PadAfter] {
            fields.extend(axes.clone().map(of));
        }
        fields.extend((0..declared).map(Self::Declared));
        fields.extend([Self::Repeat, Self::WorkspaceBytes, Self::Misalignment]);
        fields.retain(|field| field.is_of(case.problem.operation));
        fields
    }

    /// True where the operation has the field as one of its own, which follows from no other.
    fn is_of(self, operation: Operation) -> bool {
        let axes = !matches!(operation, Operation::MatMul | Operation::RmsNorm);
        match self {
            Self::ChannelsPerGroup | Self::FiltersPerGroup => {
                operation.is_convolution() || operation == Operation::MatMul
            }
            Self::Dilation(_) => operation.is_convolution(),
            Self::Input(_)
            | Self::Filter(_)
            | Self::Stride(_)
            | Self::PadBefore(_)
            | Self::PadAfter(_)
            | Self::Declared(_) => axes,
            Self::Batch | Self::Groups | Self::Repeat | Self::WorkspaceBytes | Self::Misalignment => true,
        }
    }

    /// The fields that multiply into tensor sizes and may stand in for one another.
    pub(crate) fn extents(case: &Case) -> Vec<Self> {
        let mut fields = vec![Self::Batch];
        fields.extend((0..case.problem.axes.len()).map(Self::Input));
        fields.extend([Self::ChannelsPerGroup, Self::FiltersPerGroup]);
        fields.retain(|field| field.is_of(case.problem.operation));
        fields
    }

    /// The least value that lowering aims at.
    pub(crate) fn least(self) -> i64 {
        match self {
            Self::PadBefore(_) | Self::PadAfter(_) | Self::WorkspaceBytes | Self::Misalignment => 0,
            Self::Batch
            | Self::Input(_)
            | Self::ChannelsPerGroup
            | Self::FiltersPerGroup
            | Self::Groups
            | Self::Filter(_)
            | Self::Dilation(_)
            | Self::Stride(_)
            | Self::Declared(_)
            | Self::Repeat => 1,
        }
    }

    /// Its value; 0 where the case has no such field.
    pub(crate) fn get(self, case: &Case) -> i64 {
        let problem = &case.problem;
        let groups = problem.g.max(1);
        let axis = |index: usize, of: fn(&Axis) -> i64| problem.axes.get(index).map_or(0, of);
        match self {
            Self::Batch => problem.n,
            Self::ChannelsPerGroup => problem.c / groups,
            Self::FiltersPerGroup => problem.k / groups,
            Self::Groups => problem.g,
            Self::Input(index) => axis(index, |axis| axis.input),
            Self::Filter(index) => axis(index, |axis| axis.filter),
            Self::Dilation(index) => axis(index, |axis| axis.dilation),
            Self::Stride(index) => axis(index, |axis| axis.stride),
            Self::PadBefore(index) => axis(index, |axis| axis.pad_before),
            Self::PadAfter(index) => axis(index, |axis| axis.pad_after),
            Self::Declared(index) => problem
                .declared_output
                .as_ref()
                .and_then(|declared| declared.get(index))
                .copied()
                .unwrap_or(0),
            Self::Repeat => i64::from(case.options.repeat),
            Self::WorkspaceBytes => match case.options.workspace.amount {
                WorkspaceAmount::Exact => 0,
                WorkspaceAmount::Extra(bytes) | WorkspaceAmount::Max(bytes) => bytes,
            },
            Self::Misalignment => misalignment(&case.options.workspace).abs(),
        }
    }

    /// The case with that value; `None` where it has no such field or a total leaves i64.
    pub(crate) fn set(self, case: &Case, value: i64) -> Option<Case> {
        let mut changed = case.clone();
        let problem = &mut changed.problem;
        let groups = problem.g.max(1);
        match self {
            Self::Batch => problem.n = value,
            Self::ChannelsPerGroup => problem.c = value.checked_mul(groups)?,
            Self::FiltersPerGroup => problem.k = value.checked_mul(groups)?,
            Self::Groups => {
                problem.c = (problem.c / groups).checked_mul(value)?;
                problem.k = (problem.k / groups).checked_mul(value)?;
                problem.g = value;
            }
            Self::Input(index) => problem.axes.get_mut(index)?.input = value,
            Self::Filter(index) => problem.axes.get_mut(index)?.filter = value,
            Self::Dilation(index) => problem.axes.get_mut(index)?.dilation = value,
            Self::Stride(index) => problem.axes.get_mut(index)?.stride = value,
            Self::PadBefore(index) => problem.axes.get_mut(index)?.pad_before = value,
            Self::PadAfter(index) => problem.axes.get_mut(index)?.pad_after = value,
            Self::Declared(index) => *problem.declared_output.as_mut()?.get_mut(index)? = value,
            Self::Repeat => changed.options.repeat = u32::try_from(value).ok()?,
            Self::WorkspaceBytes => match &mut changed.options.workspace.amount {
                WorkspaceAmount::Exact => return None,
                WorkspaceAmount::Extra(bytes) | WorkspaceAmount::Max(bytes) => *bytes = value,
            },
            Self::Misalignment => {
                let exponent = 8 + value * misalignment(&changed.options.workspace).signum();
                changed.options.workspace.alignment = 1_i64.checked_shl(u32::try_from(exponent).ok()?)?;
            }
        }
        Some(changed)
    }

    /// Its name in edit names, as in the text form.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Batch => "n".to_owned(),
            Self::ChannelsPerGroup => "c/g".to_owned(),
            Self::FiltersPerGroup => "k/g".to_owned(),
            Self::Groups => "g".to_owned(),
            Self::Input(index) => format!("i[{index}]"),
            Self::Filter(index) => format!("f[{index}]"),
            Self::Dilation(index) => format!("d[{index}]"),
            Self::Stride(index) => format!("s[{index}]"),
            Self::PadBefore(index) => format!("p-before[{index}]"),
            Self::PadAfter(index) => format!("p-after[{index}]"),
            Self::Declared(index) => format!("y[{index}]"),
            Self::Repeat => "repeat".to_owned(),
            Self::WorkspaceBytes => "ws bytes".to_owned(),
            Self::Misalignment => "ws alignment".to_owned(),
        }
    }
}

/// Signed distance of the alignment from the default, in powers of two.
fn misalignment(workspace: &Workspace) -> i64 {
    i64::from(workspace.alignment.max(1).ilog2()) - i64::from(Workspace::DEFAULT_ALIGNMENT.ilog2())
}
