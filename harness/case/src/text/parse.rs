//! Reads the one-line text of a case. Refuses what it does not know, naming field, value and rule.

use std::str::FromStr;

use crate::dtype::{DType, DTypes};
use crate::engine::{Config, EngineChoice, HeuristicMode, Knob};
use crate::error::CaseError;
use crate::fill::{Fill, FillKind, OutputFill, WorkspaceFill};
use crate::keep::{Keep, Kept};
use crate::layout::{Layout, Layouts};
use crate::operation::{Operation, Role};
use crate::problem::{Case, Expect, Options, Scale};
use crate::validate::check_history_length;
use crate::workspace::{Workspace, WorkspaceAmount};

use super::number::{read_bytes, read_extents, read_integer};
use super::sizes::Sizes;
use super::{once, twice};

/// Longest line read, in bytes: far above any real case, low enough to bound the work on hostile text.
const LINE_BYTES_MAX: usize = 5120;

impl FromStr for Case {
    type Err = CaseError;

    /// Reads and validates a case line: one case, or `CASE ; CASE`, the last one judged.
    fn from_str(line: &str) -> Result<Self, CaseError> {
        let mut parts = line.rsplit(';');
        let judged = parts.next().unwrap_or_default();
        // Counted before anything is read, to bound the work on hostile text.
        let earlier = parts.clone().count();
        check_history_length(earlier)?;
        let mut case =
            read(judged).map_err(|error| if earlier == 0 { error } else { last(judged, error) })?;
        for part in parts.rev() {
            let number = case.history.len() + 1;
            case.history.push(read(part).map_err(|error| error.in_history(number))?);
        }
        case.validate()?;
        Ok(case)
    }
}

/// An empty last part is a semicolon too many, which its own missing words would not tell.
fn last(judged: &str, error: CaseError) -> CaseError {
    if judged.trim().is_empty() {
        return CaseError::new(
            "case",
            ";",
            "is followed by no case; the last case is the one that is judged",
        );
    }
    error
}

fn read(line: &str) -> Result<Case, CaseError> {
    if line.len() > LINE_BYTES_MAX {
        let rule = format!("the line has {} bytes, more than the {LINE_BYTES_MAX} allowed", line.len());
        return Err(CaseError::bare("case", rule));
    }
    let mut words = line.split_ascii_whitespace().peekable();
    let operation = words.next().ok_or_else(|| {
        let known = operations().join(", ");
        CaseError::bare("operation", format!("is missing; a case line begins with one of {known}"))
    })?;
    let operation = read_operation(operation)?;
    let rule = "is missing; after the operation comes the element type: f32, f64, f16, bf16, i8 or i32";
    let dtypes = read_dtypes(words.next().ok_or_else(|| CaseError::bare("dtype", rule))?)?;
    let layouts = match operation {
        Operation::Fprop | Operation::Dgrad | Operation::Wgrad => {
            let rule =
                "is missing; after the element type comes the memory order: nchw, nhwc, nchwc4 or nchwc32";
            read_layouts(operation, words.next().ok_or_else(|| CaseError::bare("layout", rule))?)?
        }
        // Rows, and channels outside, unless said otherwise: the word may be left away.
        Operation::MatMul | Operation::MaxPool | Operation::AvgPool | Operation::RmsNorm => {
            let said = words.next_if(|word| is_order(word));
            said.map_or(Ok(Layouts::uniform(Layout::Nchw)), |word| read_layouts(operation, word))?
        }
    };
    let mut fields = Fields::default();
    for word in words {
        fields.take(operation, word)?;
    }
    fields.build(operation, dtypes, layouts)
}

/// True for a word that is meant as a memory order: an option has a sign of equality, a size a number after its letter.
fn is_order(word: &str) -> bool {
    !word.contains('=') && word.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic)
}

fn operations() -> Vec<&'static str> {
    Operation::ALL.into_iter().map(Operation::name).collect()
}

fn read_operation(word: &str) -> Result<Operation, CaseError> {
    Operation::ALL
        .into_iter()
        .find(|operation| operation.name() == word)
        .ok_or_else(|| CaseError::new("operation", word, format!("is none of {}", operations().join(", "))))
}

/// Splits a word into one value for all roles or three values for x, w, y.
fn per_role<T: Copy>(word: &str, read: impl Fn(&str) -> Result<T, CaseError>) -> Result<[T; 3], CaseError> {
    let parts = word.split(',').map(read).collect::<Result<Vec<T>, CaseError>>()?;
    match parts.as_slice() {
        [all] => Ok([*all; 3]),
        [x, w, y] => Ok([*x, *w, *y]),
        _ => Err(CaseError::new(
            "tensors",
            word,
            "names neither all at once nor x, w and y; write 1 or 3 words",
        )),
    }
}

fn read_dtype(word: &str) -> Result<DType, CaseError> {
    DType::from_name(word)
        .ok_or_else(|| CaseError::new("dtype", word, "is none of f32, f64, f16, bf16, i8, i32"))
}

fn read_dtypes(word: &str) -> Result<DTypes, CaseError> {
    let (tensors, compute) = match word.split_once('/') {
        Some((tensors, compute)) => (tensors, Some(read_dtype(compute)?)),
        None => (word, None),
    };
    let [x, w, y] = per_role(tensors, read_dtype)?;
    let compute = compute.unwrap_or_else(|| DTypes::default_compute([x, w, y]));
    Ok(DTypes { x, w, y, compute })
}

fn read_layouts(operation: Operation, word: &str) -> Result<Layouts, CaseError> {
    // Vectors are a convolution's.
    let orders: &[Layout] = if operation.is_convolution() { &Layout::ALL } else { &Layout::PLAIN };
    let known: Vec<&str> = orders.iter().map(|layout| layout.word(operation)).collect();
    let [x, w, y] = per_role(word, |part| {
        orders
            .iter()
            .copied()
            .find(|layout| layout.word(operation) == part)
            .ok_or_else(|| CaseError::new("layout", part, unknown_layout(operation, part, &known)))
    })?;
    Ok(Layouts { x, w, y })
}

/// What is wrong with a word that is no order of that operation.
fn unknown_layout(operation: Operation, word: &str, known: &[&str]) -> String {
    if operation == Operation::MatMul && Layout::from_name(word).is_some() {
        return "is an order of images; matmul takes row or col, or no word for row".to_owned();
    }
    format!("is none of {}", known.join(", "))
}

/// The options that a line may hold, as NAME=VALUE.
const OPTIONS: [&str; 15] = [
    "engine", "knobs", "heur", "tf32", "set", "ws", "wsfill", "fill", "keep", "out", "alpha", "beta",
    "repeat", "y", "expect",
];

/// The fields of a line as they are met, each at most once.
#[derive(Default)]
struct Fields {
    sizes: Sizes,
    declared_output: Option<Vec<i64>>,
    engine: Option<i64>,
    knobs: Option<Vec<Knob>>,
    ranked: Option<(HeuristicMode, u32)>,
    options: Options,
    seen: Vec<String>,
}

impl Fields {
    fn take(&mut self, operation: Operation, word: &str) -> Result<(), CaseError> {
        match word.split_once('=') {
            Some((key, value)) => self.take_option(key, value),
            None => self.sizes.take(operation, word),
        }
    }

    fn take_option(&mut self, key: &str, value: &str) -> Result<(), CaseError> {
        if self.seen.iter().any(|seen| seen == key) {
            return Err(twice(key, value));
        }
        self.seen.push(key.to_owned());
        let options = &mut self.options;
        match key {
            "y" => self.declared_output = Some(read_extents(key, value)?),
            "engine" => self.engine = Some(read_integer(key, value)?),
            "knobs" => self.knobs = Some(read_knobs(value)?),
            "heur" => self.ranked = Some(read_ranked(value)?),
            "tf32" => options.tf32 = read_word(key, value, &[("on", true), ("off", false)])?,
            "set" => options.set = Some(value.to_owned()),
            "ws" => read_workspace(&mut options.workspace, value)?,
            "wsfill" => options.workspace.contents = Some(read_workspace_fill(value)?),
            "fill" => options.fill = Some(read_fill(value)?),
            "keep" => options.keep = read_keep(value)?,
            "out" => {
                let words = [("nan", OutputFill::Nan), ("finite", OutputFill::Finite)];
                options.output_fill = Some(read_word(key, value, &words)?);
            }
            "alpha" => options.alpha = read_scale(key, value)?,
            "beta" => options.beta = read_scale(key, value)?,
            "repeat" => options.repeat = read_integer(key, value)?,
            "expect" => options.expect = read_word(key, value, &[("refuse", Expect::Refuse)])?,
            _ => return Err(CaseError::new("option", key, format!("is none of {}", OPTIONS.join(", ")))),
        }
        Ok(())
    }

    fn build(mut self, operation: Operation, dtypes: DTypes, layouts: Layouts) -> Result<Case, CaseError> {
        self.options.engine = self.engine_choice()?;
        let problem = self.sizes.problem(operation, dtypes, layouts, self.declared_output)?;
        Ok(Case { options: self.options, ..Case::new(problem) })
    }

    fn engine_choice(&mut self) -> Result<EngineChoice, CaseError> {
        match (self.engine, self.knobs.take(), self.ranked) {
            (Some(engine), knobs, None) => {
                Ok(EngineChoice::Pinned(Config { engine, knobs: knobs.unwrap_or_default() }))
            }
            (None, None, Some((mode, rank))) => Ok(EngineChoice::Ranked { mode, rank }),
            (None, None, None) => Ok(EngineChoice::Any),
            (Some(_), _, Some((mode, rank))) => Err(CaseError::new(
                "heur",
                format!("{}#{rank}", mode.name()),
                "names a plan, and engine= names another; leave one of them out",
            )),
            (None, Some(knobs), _) => {
                let shown: Vec<String> =
                    knobs.iter().map(|knob| format!("{}:{}", knob.knob, knob.value)).collect();
                let rule = "belongs to an engine, and none is named; add engine=N";
                Err(CaseError::new("knobs", shown.join(","), rule))
            }
        }
    }
}

fn read_word<T: Copy>(key: &str, value: &str, words: &[(&str, T)]) -> Result<T, CaseError> {
    words.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let rule = match known.as_slice() {
            [only] => format!("is unknown; write {key}={only}"),
            several => format!("is none of {}", several.join(", ")),
        };
        CaseError::new(key, value, rule)
    })
}

fn read_knobs(value: &str) -> Result<Vec<Knob>, CaseError> {
    let mut knobs = value
        .split(',')
        .map(|part| {
            let (knob, chosen) = part.split_once(':').ok_or_else(|| {
                CaseError::new("knobs", part, "is no knob; write TYPE:VALUE, as in knobs=2:1,13:0")
            })?;
            Ok(Knob { knob: read_integer("knobs", knob)?, value: read_integer("knobs", chosen)? })
        })
        .collect::<Result<Vec<Knob>, CaseError>>()?;
    knobs.sort_unstable();
    Ok(knobs)
}

fn read_ranked(value: &str) -> Result<(HeuristicMode, u32), CaseError> {
    let rule = "is no rank of a heuristic list; write A#0, B#0 or fallback#0, or a higher rank";
    let (mode, rank) = value.split_once('#').ok_or_else(|| CaseError::new("heur", value, rule))?;
    let mode = HeuristicMode::from_name(mode).ok_or_else(|| CaseError::new("heur", value, rule))?;
    Ok((mode, read_integer("heur", rank)?))
}

fn read_workspace(workspace: &mut Workspace, value: &str) -> Result<(), CaseError> {
    let (amount, alignment) = match value.split_once('@') {
        Some((amount, alignment)) => (amount, Some(alignment)),
        None => (value, None),
    };
    workspace.amount = if amount == "exact" {
        WorkspaceAmount::Exact
    } else if let Some(bytes) = amount.strip_prefix('+') {
        WorkspaceAmount::Extra(read_bytes("ws", bytes)?)
    } else if let Some(bytes) = amount.strip_prefix("max:") {
        WorkspaceAmount::Max(read_bytes("ws", bytes)?)
    } else {
        return Err(CaseError::new(
            "ws",
            value,
            "is none of exact, +BYTES, max:BYTES, each with @ALIGN or without",
        ));
    };
    if let Some(alignment) = alignment {
        workspace.alignment = read_integer("ws", alignment)?;
    }
    Ok(())
}

fn read_workspace_fill(value: &str) -> Result<WorkspaceFill, CaseError> {
    match value {
        "00" => Ok(WorkspaceFill::Zero),
        "ff" => Ok(WorkspaceFill::Ones),
        _ => match value.strip_prefix("rand:") {
            Some(seed) => Ok(WorkspaceFill::Random(read_integer("wsfill", seed)?)),
            None => Err(CaseError::new("wsfill", value, "is none of 00, ff, rand:SEED")),
        },
    }
}

fn read_fill(value: &str) -> Result<Fill, CaseError> {
    let (kind, seed) = value
        .split_once(':')
        .ok_or_else(|| CaseError::new("fill", value, "has no seed; write KIND:SEED, as in fill=int2:1"))?;
    let kind = FillKind::from_name(kind).ok_or_else(|| {
        let known: Vec<&str> = FillKind::ALL.into_iter().map(FillKind::name).collect();
        CaseError::new("fill", kind, format!("is none of {}", known.join(", ")))
    })?;
    Ok(Fill { kind, seed: read_integer("fill", seed)? })
}

fn read_keep(value: &str) -> Result<Keep, CaseError> {
    let mut keep = Keep::default();
    for part in value.split(',') {
        let rule =
            "is no range of a tensor; write x, w or y with a position or FIRST-LAST, as in keep=x:17,w:0-3";
        let unknown = || CaseError::new("keep", part, rule);
        let (name, range) = part.split_once(':').ok_or_else(unknown)?;
        let role = Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(unknown)?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let kept = Kept { first: read_integer("keep", first)?, last: read_integer("keep", last)? };
        once(keep.of_mut(role), "keep", part, kept)
            .map_err(|_| CaseError::new("keep", part, format!("is a second range; give {name} once")))?;
    }
    Ok(keep)
}

fn read_scale(key: &str, value: &str) -> Result<Scale, CaseError> {
    let number: f64 = value
        .parse()
        .map_err(|_| CaseError::new(key, value, format!("is not a number; write {key}=1 or {key}=-0.5")))?;
    Ok(Scale::new(number))
}
