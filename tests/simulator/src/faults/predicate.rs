//! Conditions on a problem and its engine, one atom a line of text. Knows fields, relations and how to read them;
//! knows no effects.

use std::fmt;

use abi::cudnn::DataType;
use case::{Layout, Operation, Role};
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, Tensor};

/// What a condition can be about.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// Engine index, absent before there is one.
    pub engine: Option<i64>,
    /// Largest power of two that divides the workspace's address, absent before there is one.
    pub workspace_alignment: Option<u64>,
}

/// `FIELD [* FIELD]... [mod M] RELATION VALUE`, such as `k/g mod 8 = 1`, `n * o[last] >= 64`, `dtype = f16`.
///
/// Fields: `operation engine dtype in out layout rank n c k g c/g k/g alpha beta wsalign` (`in` and `out` are the
/// types of what is read and written), and of an axis `[0] [1] [2]
/// [last]`: `i f o s d` and `p` (padding before) and `q` (padding after). Relations: `= != < <= > >=`. An atom about
/// something that is absent does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Atom {
    fields: Vec<Field>,
    modulus: Option<i64>,
    relation: Relation,
    value: Value,
}

/// A number or a word.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(f64),
    Word(String),
}

/// An axis by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    At(usize),
    Last,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($item:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum $name { $($item),* }
        impl $name {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$item, $word)),*];
            fn word(self) -> &'static str {
                Self::ALL.iter().find(|(item, _)| *item == self).map_or("", |(_, word)| word)
            }
            fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|(_, known)| *known == word).map(|(item, _)| *item)
            }
        }
    };
}

words! {
    /// A field of the whole problem.
    Scalar {
        Operation = "operation", Engine = "engine", DType = "dtype", Layout = "layout", Rank = "rank", N = "n",
        C = "c", K = "k", G = "g", ChannelsPerGroup = "c/g", FiltersPerGroup = "k/g", Alpha = "alpha", Beta = "beta",
        WorkspaceAlignment = "wsalign", Read = "in", Written = "out",
    }
}

words! {
    /// A field of one axis.
    Extent {
        Input = "i", Filter = "f", Output = "o", PadBefore = "p", PadAfter = "q", Stride = "s", Dilation = "d",
    }
}

words! {
    /// How a field and a value are compared.
    Relation { Equal = "=", NotEqual = "!=", Less = "<", AtMost = "<=", More = ">", AtLeast = ">=" }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Scalar(Scalar),
    Axis(Extent, Place),
}

impl Field {
    fn named(word: &str) -> Option<Self> {
        let Some((name, place)) = word.strip_suffix(']').and_then(|word| word.split_once('[')) else {
            return Scalar::named(word).map(Self::Scalar);
        };
        let place = match place {
            "last" => Place::Last,
            "0" | "1" | "2" => Place::At(place.parse().ok()?),
            _ => return None,
        };
        Extent::named(name).map(|extent| Self::Axis(extent, place))
    }

    fn get(self, facts: &Facts<'_>) -> Option<Value> {
        match self {
            Self::Scalar(scalar) => scalar.get(facts),
            Self::Axis(extent, place) => {
                let rank = facts.problem.rank();
                let axis = match place {
                    Place::At(axis) => axis,
                    Place::Last => rank.checked_sub(1)?,
                };
                (axis < rank).then(|| Value::number(extent.get(facts.problem, axis)))
            }
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => formatter.write_str(scalar.word()),
            Self::Axis(extent, Place::Last) => write!(formatter, "{}[last]", extent.word()),
            Self::Axis(extent, Place::At(axis)) => write!(formatter, "{}[{axis}]", extent.word()),
        }
    }
}

impl Value {
    fn number(value: i64) -> Self {
        Self::Number(value as f64)
    }

    fn word(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl Scalar {
    fn get(self, facts: &Facts<'_>) -> Option<Value> {
        let problem = facts.problem;
        let [batch, group_c, group_k] = problem.sizes();
        Some(match self {
            Self::Operation => Value::word(problem.operation.name()),
            Self::Engine => Value::number(facts.engine?),
            Self::DType => Value::word(dtype(problem.tensors.iter().map(|tensor| tensor.dtype))),
            Self::Read => {
                Value::word(dtype(problem.operation.inputs().iter().map(|role| problem.tensor(*role).dtype)))
            }
            Self::Written => {
                Value::word(dtype(std::iter::once(problem.tensor(problem.operation.output()).dtype)))
            }
            Self::Layout => Value::word(layout(problem)),
            Self::Rank => Value::number(problem.rank() as i64),
            Self::N => Value::number(batch),
            Self::C => Value::number(group_c * problem.groups()),
            Self::K => Value::number(group_k * problem.groups()),
            Self::G => Value::number(problem.groups()),
            Self::ChannelsPerGroup => Value::number(group_c),
            Self::FiltersPerGroup => Value::number(group_k),
            Self::Alpha => Value::Number(problem.alpha),
            Self::Beta => Value::Number(problem.beta),
            Self::WorkspaceAlignment => {
                Value::number(i64::try_from(facts.workspace_alignment?).unwrap_or(i64::MAX))
            }
        })
    }
}

impl Extent {
    fn get(self, problem: &Problem, axis: usize) -> i64 {
        let convolution = &problem.convolution;
        // Matrices have no axes; the one that stands in has an extent of 1.
        let matrices = problem.operation == Operation::MatMul;
        let extent = |role: Role| if matrices { 1 } else { problem.tensor(role).extents[axis + 2] };
        match self {
            Self::Input => extent(Role::X),
            Self::Filter => extent(Role::W),
            Self::Output => extent(Role::Y),
            Self::PadBefore => convolution.pad_before[axis],
            Self::PadAfter => convolution.pad_after[axis],
            Self::Stride => convolution.stride[axis],
            Self::Dilation => convolution.dilation[axis],
        }
    }
}

/// The one type of them all.
fn dtype(mut types: impl Iterator<Item = i32>) -> &'static str {
    let Some(first) = types.next() else { return "other" };
    if types.any(|other| other != first) {
        return "mixed";
    }
    match DataType(first) {
        DataType::FLOAT => "f32",
        DataType::DOUBLE => "f64",
        DataType::HALF => "f16",
        DataType::BFLOAT16 => "bf16",
        DataType::INT8 => "i8",
        DataType::INT32 => "i32",
        _ => "other",
    }
}

/// A packed order is told by strides, so one that extents of 1 leave open counts as the plainest.
fn layout(problem: &Problem) -> &'static str {
    // The windows of a pooling lie nowhere.
    let tensors: Vec<&Tensor> =
        problem.operation.tensors().iter().map(|role| problem.tensor(*role)).collect();
    let all = |layout| tensors.iter().all(|tensor| tensor.is_packed(layout));
    let packed = |tensor: &Tensor| Layout::PLAIN.into_iter().any(|layout| tensor.is_packed(layout));
    let vectors = |vector| tensors.iter().all(|tensor| tensor.vector == vector);
    if vectors(4) {
        "nchwc4"
    } else if vectors(32) {
        "nchwc32"
    } else if all(Layout::Nchw) {
        "nchw"
    } else if all(Layout::Nhwc) {
        "nhwc"
    } else if tensors.iter().copied().all(packed) {
        "mixed"
    } else {
        "strided"
    }
}

impl Atom {
    /// Whether it holds.
    #[must_use]
    pub fn holds(&self, facts: &Facts<'_>) -> bool {
        let mut values = self.fields.iter().map(|field| field.get(facts));
        let Some(first) = values.next().flatten() else { return false };
        match (&first, &self.value) {
            (Value::Word(have), Value::Word(want)) => match self.relation {
                Relation::Equal => have == want,
                Relation::NotEqual => have != want,
                Relation::Less | Relation::AtMost | Relation::More | Relation::AtLeast => false,
            },
            (Value::Number(first), Value::Number(want)) => {
                let product = values.try_fold(*first, |product, value| match value {
                    Some(Value::Number(value)) => Some(product * value),
                    Some(Value::Word(_)) | None => None,
                });
                product.is_some_and(|product| self.compare(product, *want))
            }
            (Value::Word(_), Value::Number(_)) | (Value::Number(_), Value::Word(_)) => false,
        }
    }

    fn compare(&self, have: f64, want: f64) -> bool {
        let have = self.modulus.map_or(have, |modulus| have.rem_euclid(modulus as f64));
        match self.relation {
            Relation::Equal => have == want,
            Relation::NotEqual => have != want,
            Relation::Less => have < want,
            Relation::AtMost => have <= want,
            Relation::More => have > want,
            Relation::AtLeast => have >= want,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let mut fields = vec![Field::named(words.next()?)?];
        let mut modulus = None;
        let relation = loop {
            match words.next()? {
                "*" if modulus.is_none() => fields.push(Field::named(words.next()?)?),
                "mod" if modulus.is_none() => {
                    modulus = Some(words.next()?.parse().ok().filter(|modulus: &i64| *modulus > 0)?);
                }
                word => break Relation::named(word)?,
            }
        };
        let value = words.next()?;
        let value = value.parse().map_or_else(|_| Value::word(value), Value::Number);
        words.next().is_none().then_some(Self { fields, modulus, relation, value })
    }
}

impl TryFrom<String> for Atom {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
            .ok_or_else(|| format!("'{text}' is no condition: FIELD [* FIELD] [mod M] RELATION VALUE"))
    }
}

impl From<Atom> for String {
    fn from(atom: Atom) -> Self {
        atom.to_string()
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<String> = self.fields.iter().map(Field::to_string).collect();
        write!(formatter, "{}", fields.join(" * "))?;
        if let Some(modulus) = self.modulus {
            write!(formatter, " mod {modulus}")?;
        }
        write!(formatter, " {} ", self.relation.word())?;
        match &self.value {
            Value::Number(value) => write!(formatter, "{value}"),
            Value::Word(word) => formatter.write_str(word),
        }
    }
}
