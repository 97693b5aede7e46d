//! A convolution as a foreign file tells of it, and what case that is. Knows extents, strides and types; knows no file.

use case::{Axis, Case, DType, DTypes, Layout, Layouts, Operation, Problem, Role, Scale};

/// A tensor as told: extents in the order n, c, spatial.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) dtype: DType,
    /// Empty where nothing was told.
    pub(crate) dims: Vec<i64>,
    /// What was told of its memory.
    pub(crate) order: Order,
    /// True where it exists within a fused graph only, so that its type is never seen in memory.
    pub(crate) inner: bool,
}

/// Memory order of a tensor as told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Order {
    /// Element strides.
    Strides(Vec<i64>),
    /// By name.
    Named(Layout),
    /// Not at all: that of the other tensors.
    Untold,
}

/// What a file tells of one convolution.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Convolution {
    pub(crate) operation: Operation,
    /// In role order.
    pub(crate) tensors: [Tensor; 3],
    pub(crate) compute: Option<DType>,
    pub(crate) pads_before: Vec<i64>,
    pub(crate) pads_after: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    pub(crate) dilations: Vec<i64>,
    /// Where they are told; else they follow from the channels.
    pub(crate) groups: Option<i64>,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
}

impl Convolution {
    /// The case, or why there is none.
    pub(crate) fn case(&self) -> Result<Case, String> {
        let [x, w, y] = &self.tensors;
        let rank = x.dims.len();
        if !(3..=5).contains(&rank) || w.dims.len() != rank {
            return Err(format!("tensors of {rank} and {} extents; 3 to 5 make a convolution", w.dims.len()));
        }
        let axes = self.axes(rank - 2)?;
        let (n, c, k, per_group) = (x.dims[0], x.dims[1], w.dims[0], w.dims[1]);
        let g = match (self.groups, c.checked_rem(per_group)) {
            (Some(groups), _) => groups,
            (None, Some(0)) => c / per_group,
            (None, _) => return Err("channels that do not divide into groups".to_owned()),
        };
        if g.checked_mul(per_group) != Some(c) {
            return Err("channels of filter and input that do not fit together".to_owned());
        }
        let expected: Vec<i64> = [n, k].into_iter().chain(axes.iter().map(Axis::output)).collect();
        if !y.dims.is_empty() && y.dims != expected {
            return Err("an output size that does not follow from the input".to_owned());
        }
        let dims = [&x.dims, &w.dims, &expected];
        let layouts = self.layouts(dims)?;
        let dtypes = self.dtypes();
        let problem =
            Problem { operation: self.operation, dtypes, layouts, n, c, k, g, axes, declared_output: None };
        let mut case = Case::new(problem);
        (case.options.alpha, case.options.beta) = (Scale::new(self.alpha), Scale::new(self.beta));
        valid(case)
    }

    fn axes(&self, rank: usize) -> Result<Vec<Axis>, String> {
        let [x, w, _] = &self.tensors;
        for (name, values) in [
            ("padding", &self.pads_before),
            ("padding", &self.pads_after),
            ("stride", &self.strides),
            ("dilation", &self.dilations),
        ] {
            if values.len() != rank {
                return Err(format!("{name} for {} axes where the tensors have {rank}", values.len()));
            }
        }
        let axis = |index: usize| Axis {
            input: x.dims[index + 2],
            filter: w.dims[index + 2],
            pad_before: self.pads_before[index],
            pad_after: self.pads_after[index],
            stride: self.strides[index],
            dilation: self.dilations[index],
        };
        let axes: Vec<Axis> = (0..rank).map(axis).collect();
        // The output rule adds these up.
        let within = |least: i64| move |value: &i64| (least..=1 << 40).contains(value);
        let mut dims =
            self.tensors.iter().flat_map(|tensor| &tensor.dims).chain(&self.strides).chain(&self.dilations);
        let mut pads = self.pads_before.iter().chain(&self.pads_after);
        if dims.all(within(1)) && pads.all(within(0)) {
            Ok(axes)
        } else {
            Err("a number that no convolution has".to_owned())
        }
    }

    /// A tensor that never is in memory has the type of one that is.
    fn dtypes(&self) -> DTypes {
        let [x, w, y] = &self.tensors;
        let seen = [w, x, y].into_iter().find(|tensor| !tensor.inner).unwrap_or(w).dtype;
        let [x, w, y] = [x, w, y].map(|tensor| if tensor.inner { seen } else { tensor.dtype });
        let compute = self.compute.unwrap_or_else(|| DTypes::default_compute([x, w, y]));
        DTypes { x, w, y, compute }
    }

    /// Where extents of 1 make both orders fit, the others decide.
    fn layouts(&self, dims: [&Vec<i64>; 3]) -> Result<Layouts, String> {
        let mut fits = Vec::new();
        for (tensor, dims) in self.tensors.iter().zip(dims) {
            fits.push(fitting(tensor, dims)?);
        }
        let of = |role: Role| fits[role.index()];
        let decided = [Role::X, Role::Y, Role::W].into_iter().find_map(of);
        let plain = || self.tensors.iter().zip(dims).find_map(|(tensor, dims)| exact(tensor, dims));
        let common = decided.or_else(plain).unwrap_or(Layout::Nchw);
        let [x, w, y] = Role::ALL.map(|role| of(role).unwrap_or(common));
        Ok(Layouts { x, w, y })
    }
}

/// The case, or the rule that it breaks.
pub(crate) fn valid(case: Case) -> Result<Case, String> {
    case.validate().map_err(|error| format!("not a valid case: {}: {}", error.field, error.rule))?;
    Ok(case)
}

/// The one order that fits a tensor; nothing where both do.
fn fitting(tensor: &Tensor, dims: &Vec<i64>) -> Result<Option<Layout>, String> {
    let strides = match &tensor.order {
        Order::Named(layout) => return Ok(Some(*layout)),
        Order::Untold => return Ok(None),
        Order::Strides(strides) => strides,
    };
    let fits = |layout: &Layout| {
        let packed = layout.strides(dims);
        let same = |axis: usize| dims[axis] == 1 || packed[axis] == strides[axis];
        strides.len() == dims.len() && (0..dims.len()).all(same)
    };
    let fitting: Vec<Layout> = Layout::PLAIN.into_iter().filter(fits).collect();
    match fitting.as_slice() {
        [] => Err("strides that are neither nchw nor nhwc without gaps".to_owned()),
        [one] => Ok(Some(*one)),
        _ => Ok(None),
    }
}

/// The order whose strides are given to the letter, extents of 1 included; nothing where both are.
fn exact(tensor: &Tensor, dims: &Vec<i64>) -> Option<Layout> {
    let Order::Strides(strides) = &tensor.order else { return None };
    let is = |layout: Layout| layout.strides(dims) == *strides;
    match (is(Layout::Nchw), is(Layout::Nhwc)) {
        (true, false) => Some(Layout::Nchw),
        (false, true) => Some(Layout::Nhwc),
        (true, true) | (false, false) => None,
    }
}

/// The element type of a name as cuDNN, its frontend and frameworks write it.
pub(crate) fn dtype(name: &str) -> Result<DType, String> {
    let plain = name.trim().trim_start_matches("CUDNN_DATA_").to_ascii_lowercase();
    match plain.as_str() {
        "float" | "f32" | "fp32" | "float32" => Ok(DType::F32),
        "double" | "f64" | "fp64" | "float64" => Ok(DType::F64),
        "half" | "f16" | "fp16" | "float16" => Ok(DType::F16),
        "bfloat16" | "bf16" => Ok(DType::Bf16),
        _ => Err(format!("element type {}", shortened(name))),
    }
}

/// A foreign word, fit for a reason: short, and without control characters.
pub(crate) fn shortened(word: &str) -> String {
    word.trim().chars().take(40).flat_map(char::escape_debug).collect()
}
