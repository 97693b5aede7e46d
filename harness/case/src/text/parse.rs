//! Reads the one-line text of a case. Refuses what it does not know, naming field, value and rule.

use std::str::FromStr;

use crate::dtype::{DType, DTypes};
use crate::engine::{Config, EngineChoice, HeuristicMode, Knob};
use crate::error::CaseError;
use crate::fill::{Fill, FillKind, OutputFill, WorkspaceFill};
use crate::layout::{Layout, Layouts};
use crate::operation::Operation;
use crate::problem::{Axis, Case, Expect, Options, Problem, Scale};
use crate::workspace::{Workspace, WorkspaceAmount};

/// Longest line read, in bytes: far above any real case, low enough to bound the work on hostile text.
const LINE_BYTES_MAX: usize = 4096;

impl FromStr for Case {
    type Err = CaseError;

    /// Reads and validates a case line.
    fn from_str(line: &str) -> Result<Self, CaseError> {
        let case = read(line)?;
        case.validate()?;
        Ok(case)
    }
}

fn read(line: &str) -> Result<Case, CaseError> {
    if line.len() > LINE_BYTES_MAX {
        return Err(CaseError::new(
            "case",
            line.len(),
            format!("bytes exceed the limit of {LINE_BYTES_MAX}"),
        ));
    }
    if line.contains(';') {
        return Err(CaseError::new("case", ";", "joins a history of cases, which is not supported yet"));
    }
    let mut words = line.split_ascii_whitespace();
    let operation = read_operation(words.next().unwrap_or(""))?;
    let dtypes = read_dtypes(words.next().unwrap_or(""))?;
    let layouts = read_layouts(words.next().unwrap_or(""))?;
    let mut fields = Fields::default();
    for word in words {
        fields.take(word)?;
    }
    fields.build(operation, dtypes, layouts)
}

fn read_operation(word: &str) -> Result<Operation, CaseError> {
    Operation::ALL
        .into_iter()
        .find(|operation| operation.name() == word)
        .ok_or_else(|| CaseError::new("operation", word, "is none of fprop, dgrad, wgrad"))
}

/// Splits a word into one value for all roles or three values for x, w, y.
fn per_role<T: Copy>(word: &str, read: impl Fn(&str) -> Result<T, CaseError>) -> Result<[T; 3], CaseError> {
    let parts = word.split(',').map(read).collect::<Result<Vec<T>, CaseError>>()?;
    match parts.as_slice() {
        [all] => Ok([*all; 3]),
        [x, w, y] => Ok([*x, *w, *y]),
        _ => Err(CaseError::new("tensors", word, "gives neither one value nor one each for x, w, y")),
    }
}

fn read_dtype(word: &str) -> Result<DType, CaseError> {
    DType::from_name(word).ok_or_else(|| CaseError::new("dtype", word, "is none of f32, f64, f16, bf16"))
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

fn read_layouts(word: &str) -> Result<Layouts, CaseError> {
    let [x, w, y] = per_role(word, |part| {
        Layout::from_name(part).ok_or_else(|| CaseError::new("layout", part, "is neither nchw nor nhwc"))
    })?;
    Ok(Layouts { x, w, y })
}

fn read_integer<T: FromStr>(field: &str, text: &str) -> Result<T, CaseError> {
    // A leading plus sign would print back differently, so it is no canonical number.
    if text.starts_with('+') {
        return Err(CaseError::new(field, text, "is not a plain integer"));
    }
    text.parse().map_err(|_| CaseError::new(field, text, "is not an integer that fits"))
}

fn read_extents(field: &str, text: &str) -> Result<Vec<i64>, CaseError> {
    text.split('x').map(|part| read_integer(field, part)).collect()
}

/// Reads bytes with an optional binary unit.
fn read_bytes(field: &str, text: &str) -> Result<i64, CaseError> {
    let (digits, shift) = [("GiB", 30), ("MiB", 20), ("KiB", 10)]
        .into_iter()
        .find_map(|(unit, shift)| text.strip_suffix(unit).map(|digits| (digits, shift)))
        .unwrap_or((text, 0));
    let count: i64 = read_integer(field, digits)?;
    count
        .checked_mul(1 << shift)
        .ok_or_else(|| CaseError::new(field, text, "does not fit in 63 bits of bytes"))
}

fn read_pads(text: &str) -> Result<Vec<(i64, i64)>, CaseError> {
    text.split('x')
        .map(|part| match part.split_once(':') {
            Some((before, after)) => Ok((read_integer("p", before)?, read_integer("p", after)?)),
            None => read_integer("p", part).map(|both| (both, both)),
        })
        .collect()
}

/// The fields of a line as they are met, each at most once.
#[derive(Default)]
struct Fields {
    n: Option<i64>,
    c: Option<i64>,
    k: Option<i64>,
    g: Option<i64>,
    input: Option<Vec<i64>>,
    filter: Option<Vec<i64>>,
    pads: Option<Vec<(i64, i64)>>,
    stride: Option<Vec<i64>>,
    dilation: Option<Vec<i64>>,
    declared_output: Option<Vec<i64>>,
    engine: Option<i64>,
    knobs: Option<Vec<Knob>>,
    ranked: Option<(HeuristicMode, u32)>,
    options: Options,
    seen: Vec<String>,
}

fn once<T>(slot: &mut Option<T>, field: &str, text: &str, value: T) -> Result<(), CaseError> {
    if slot.replace(value).is_some() {
        return Err(CaseError::new(field, text, "is given twice"));
    }
    Ok(())
}

impl Fields {
    fn take(&mut self, word: &str) -> Result<(), CaseError> {
        match word.split_once('=') {
            Some((key, value)) => self.take_option(key, value),
            None => self.take_size(word),
        }
    }

    fn take_size(&mut self, word: &str) -> Result<(), CaseError> {
        let unknown = || CaseError::new("size", word, "is no field: n c k g i f p s d take a number");
        let field = word.get(..1).ok_or_else(unknown)?;
        let text = &word[1..];
        match field {
            "n" => once(&mut self.n, field, text, read_integer(field, text)?),
            "c" => once(&mut self.c, field, text, read_integer(field, text)?),
            "k" => once(&mut self.k, field, text, read_integer(field, text)?),
            "g" => once(&mut self.g, field, text, read_integer(field, text)?),
            "i" => once(&mut self.input, field, text, read_extents(field, text)?),
            "f" => once(&mut self.filter, field, text, read_extents(field, text)?),
            "p" => once(&mut self.pads, field, text, read_pads(text)?),
            "s" => once(&mut self.stride, field, text, read_extents(field, text)?),
            "d" => once(&mut self.dilation, field, text, read_extents(field, text)?),
            _ => Err(unknown()),
        }
    }

    fn take_option(&mut self, key: &str, value: &str) -> Result<(), CaseError> {
        if self.seen.iter().any(|seen| seen == key) {
            return Err(CaseError::new(key, value, "is given twice"));
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
            "out" => {
                let words = [("nan", OutputFill::Nan), ("finite", OutputFill::Finite)];
                options.output_fill = Some(read_word(key, value, &words)?);
            }
            "alpha" => options.alpha = read_scale(key, value)?,
            "beta" => options.beta = read_scale(key, value)?,
            "repeat" => options.repeat = read_integer(key, value)?,
            "expect" => options.expect = read_word(key, value, &[("refuse", Expect::Refuse)])?,
            _ => return Err(CaseError::new("option", key, "is unknown or not supported yet")),
        }
        Ok(())
    }

    fn build(mut self, operation: Operation, dtypes: DTypes, layouts: Layouts) -> Result<Case, CaseError> {
        self.options.engine = self.engine_choice()?;
        let axes = self.axes()?;
        let required = |slot: Option<i64>, field: &str| {
            slot.ok_or_else(|| CaseError::new(field, "nothing", "is given, but the size is required"))
        };
        let problem = Problem {
            operation,
            dtypes,
            layouts,
            n: required(self.n, "n")?,
            c: required(self.c, "c")?,
            k: required(self.k, "k")?,
            g: self.g.unwrap_or(1),
            axes,
            declared_output: self.declared_output,
        };
        Ok(Case { problem, options: self.options })
    }

    fn engine_choice(&mut self) -> Result<EngineChoice, CaseError> {
        match (self.engine, self.knobs.take(), self.ranked) {
            (Some(engine), knobs, None) => {
                Ok(EngineChoice::Pinned(Config { engine, knobs: knobs.unwrap_or_default() }))
            }
            (None, None, Some((mode, rank))) => Ok(EngineChoice::Ranked { mode, rank }),
            (None, None, None) => Ok(EngineChoice::Any),
            (Some(_), _, Some(_)) => {
                Err(CaseError::new("heur", "given", "cannot join engine=: one names the plan"))
            }
            (None, Some(_), _) => {
                Err(CaseError::new("knobs", "given", "belongs to engine=, which is missing"))
            }
        }
    }

    fn axes(&mut self) -> Result<Vec<Axis>, CaseError> {
        let nothing =
            |field: &str| CaseError::new(field, "nothing", "is given, but the extents are required");
        let input = self.input.take().ok_or_else(|| nothing("i"))?;
        let filter = self.filter.take().ok_or_else(|| nothing("f"))?;
        let rank = input.len();
        let pads = self.pads.take().unwrap_or_else(|| vec![(0, 0); rank]);
        let stride = self.stride.take().unwrap_or_else(|| vec![1; rank]);
        let dilation = self.dilation.take().unwrap_or_else(|| vec![1; rank]);
        let lengths = [("f", filter.len()), ("p", pads.len()), ("s", stride.len()), ("d", dilation.len())];
        for (field, length) in lengths {
            if length != rank {
                return Err(wrong_rank(field, length, rank));
            }
        }
        Ok((0..rank)
            .map(|axis| Axis {
                input: input[axis],
                filter: filter[axis],
                pad_before: pads[axis].0,
                pad_after: pads[axis].1,
                stride: stride[axis],
                dilation: dilation[axis],
            })
            .collect())
    }
}

fn wrong_rank(field: &str, length: usize, rank: usize) -> CaseError {
    CaseError::new(field, length, format!("is its number of axes, but i has {rank}"))
}

fn read_word<T: Copy>(key: &str, value: &str, words: &[(&str, T)]) -> Result<T, CaseError> {
    words.iter().find(|(word, _)| *word == value).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        CaseError::new(key, value, format!("is none of: {}", known.join(", ")))
    })
}

fn read_knobs(value: &str) -> Result<Vec<Knob>, CaseError> {
    let mut knobs = value
        .split(',')
        .map(|part| {
            let (knob, chosen) = part
                .split_once(':')
                .ok_or_else(|| CaseError::new("knobs", part, "is not of the form TYPE:VALUE"))?;
            Ok(Knob { knob: read_integer("knobs", knob)?, value: read_integer("knobs", chosen)? })
        })
        .collect::<Result<Vec<Knob>, CaseError>>()?;
    knobs.sort_unstable();
    Ok(knobs)
}

fn read_ranked(value: &str) -> Result<(HeuristicMode, u32), CaseError> {
    let rule = "is not of the form A#0, B#0 or fallback#0";
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
            "is none of: exact, +BYTES, max:BYTES, each with @ALIGN or without",
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
            None => Err(CaseError::new("wsfill", value, "is none of: 00, ff, rand:SEED")),
        },
    }
}

fn read_fill(value: &str) -> Result<Fill, CaseError> {
    let (kind, seed) =
        value.split_once(':').ok_or_else(|| CaseError::new("fill", value, "is not of the form KIND:SEED"))?;
    let kind = FillKind::from_name(kind).ok_or_else(|| {
        let known: Vec<&str> = FillKind::ALL.into_iter().map(FillKind::name).collect();
        CaseError::new("fill", kind, format!("is none of: {}", known.join(", ")))
    })?;
    Ok(Fill { kind, seed: read_integer("fill", seed)? })
}

fn read_scale(key: &str, value: &str) -> Result<Scale, CaseError> {
    let number: f64 = value.parse().map_err(|_| CaseError::new(key, value, "is not a number"))?;
    Ok(Scale::new(number))
}
