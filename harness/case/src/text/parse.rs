//! Reads the one-line text of a case. Refuses what it does not know, naming field, value and rule.

use std::str::FromStr;

use crate::dtype::{DType, DTypes};
use crate::engine::{Config, EngineChoice, HeuristicMode, Knob};
use crate::error::CaseError;
use crate::fill::{Fill, FillKind, OutputFill, WorkspaceFill};
use crate::keep::{Keep, Kept};
use crate::layout::{Layout, Layouts};
use crate::operation::{Operation, Role};
use crate::problem::{Axis, Case, Expect, Options, Problem, Scale};
use crate::validate::check_history_length;
use crate::workspace::{Workspace, WorkspaceAmount};

use super::number::{read_bytes, read_extents, read_integer, read_pads};
use super::{join_extents, print_pad};

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
    let mut words = line.split_ascii_whitespace();
    let mut head = |field: &str, rule: &str| words.next().ok_or_else(|| CaseError::bare(field, rule));
    let operation =
        read_operation(head("operation", "is missing; a case line begins with fprop, dgrad or wgrad")?)?;
    let dtypes = read_dtypes(head(
        "dtype",
        "is missing; after the operation comes the element type: f32, f64, f16, bf16, i8 or i32",
    )?)?;
    let layouts = read_layouts(head(
        "layout",
        "is missing; after the element type comes the memory order: nchw, nhwc, nchwc4 or nchwc32",
    )?)?;
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

fn read_layouts(word: &str) -> Result<Layouts, CaseError> {
    let [x, w, y] = per_role(word, |part| {
        let rule = "is none of nchw, nhwc, nchwc4, nchwc32";
        Layout::from_name(part).ok_or_else(|| CaseError::new("layout", part, rule))
    })?;
    Ok(Layouts { x, w, y })
}

/// The options that a line may hold, as NAME=VALUE.
const OPTIONS: [&str; 15] = [
    "engine", "knobs", "heur", "tf32", "set", "ws", "wsfill", "fill", "keep", "out", "alpha", "beta",
    "repeat", "y", "expect",
];

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
        return Err(twice(field, text));
    }
    Ok(())
}

fn twice(field: &str, text: &str) -> CaseError {
    CaseError::new(field, text, format!("is a second value; give {field} once"))
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
        let axes = self.axes()?;
        let required = |slot: Option<i64>, field: &str, what: &str| {
            slot.ok_or_else(|| {
                CaseError::bare(field, format!("is missing; write the {what}, as in {field}8"))
            })
        };
        let problem = Problem {
            operation,
            dtypes,
            layouts,
            n: required(self.n, "n", "batch size")?,
            c: required(self.c, "c", "number of input channels")?,
            k: required(self.k, "k", "number of filters")?,
            g: self.g.unwrap_or(1),
            axes,
            declared_output: self.declared_output,
        };
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

    fn axes(&mut self) -> Result<Vec<Axis>, CaseError> {
        let missing = |field: &str, rule: &str| CaseError::bare(field, rule);
        let input = self.input.take().ok_or_else(|| {
            missing("i", "is missing; write the input's extent along each axis, as in i56x56")
        })?;
        let filter = self.filter.take().ok_or_else(|| {
            missing("f", "is missing; write the filter's extent along each axis, as in f3x3")
        })?;
        let rank = input.len();
        let pads = self.pads.take().unwrap_or_else(|| vec![(0, 0); rank]);
        let stride = self.stride.take().unwrap_or_else(|| vec![1; rank]);
        let dilation = self.dilation.take().unwrap_or_else(|| vec![1; rank]);
        let given = [
            ("f", filter.len(), join_extents(&filter)),
            ("p", pads.len(), join_pads(&pads)),
            ("s", stride.len(), join_extents(&stride)),
            ("d", dilation.len(), join_extents(&dilation)),
        ];
        for (field, length, shown) in given {
            if length != rank {
                return Err(wrong_rank(field, &shown, length, rank));
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

fn join_pads(pads: &[(i64, i64)]) -> String {
    let pad = |&(before, after): &(i64, i64)| print_pad(before, after);
    pads.iter().map(pad).collect::<Vec<_>>().join("x")
}

/// A field that speaks of another number of axes than the input has.
pub(crate) fn wrong_rank(field: &str, shown: &str, length: usize, rank: usize) -> CaseError {
    let axes = |count: usize| if count == 1 { "1 axis".to_owned() } else { format!("{count} axes") };
    let first = shown.split('x').next().unwrap_or_default();
    let sign = if field == "y" { "=" } else { "" };
    let example = vec![first; rank].join("x");
    let rule =
        format!("has {}, but i has {}; write it as in {field}{sign}{example}", axes(length), axes(rank));
    CaseError::new(field, shown, rule)
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
