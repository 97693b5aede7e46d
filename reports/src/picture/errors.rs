//! Where in the output the listed wrong elements lie: planes of the output with those elements marked, and
//! what they have in common. Says how many are listed and how many there are; guesses nothing about the
//! others.

use case::{Case, Execution};

use super::plane::Plane;
use super::svg::{Anchor, Drawing, width_of};
use crate::position::{coordinates, extents, names};

/// Most planes drawn.
const PLANES_MAX: usize = 6;

/// Fewest elements that make a remainder worth telling.
const RESIDUES_MIN: usize = 4;

/// Most cells along an edge between which lines are drawn.
const GRID_MAX: u64 = 32;

/// Top of the planes.
const TOP: f64 = 72.0;

/// Width that planes are laid out in.
const WIDTH: f64 = 640.0;

/// Least and largest edge of a cell.
const CELL: (f64, f64) = (4.0, 14.0);

/// Longest edge of a plane.
const EDGE: f64 = 192.0;

/// The output with its wrong elements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ErrorMap {
    /// Names of the axes drawn downwards and across.
    axes: (&'static str, &'static str),
    /// Each plane with what its other coordinates are.
    planes: Vec<(String, Plane)>,
    /// Planes with listed elements that are not drawn.
    hidden: usize,
    /// Elements of the output.
    outputs: u64,
    /// First and last differing position.
    range: (u64, u64),
    /// Listed elements.
    listed: Vec<u64>,
    /// Differing elements in all.
    differing: u64,
    /// What the listed ones have in common.
    pattern: Vec<String>,
}

impl ErrorMap {
    /// The map of an execution; `None` where no element is listed.
    pub(crate) fn of(case: &Case, execution: &Execution) -> Option<Self> {
        let listed: Vec<u64> = execution.excerpt.iter().map(|(position, ..)| *position).collect();
        if listed.is_empty() {
            return None;
        }
        let (extents, names) = (extents(case), names(case));
        let places: Vec<Vec<u64>> = listed.iter().map(|position| coordinates(case, *position)).collect();
        let (down, across) = drawn(&extents);
        let mut planes: Vec<(String, Plane)> = Vec::new();
        for place in &places {
            let others: Vec<String> = (0..extents.len())
                .filter(|axis| ![down, across].contains(axis))
                .map(|axis| format!("{}{}", names[axis], place[axis]))
                .collect();
            let others = others.join(" ");
            let mark = (place[down], place[across]);
            match planes.iter_mut().find(|(known, _)| *known == others) {
                Some((_, plane)) => plane.marked.push(mark),
                None => {
                    let plane = Plane { down: extents[down], across: extents[across], marked: vec![mark] };
                    planes.push((others, plane));
                }
            }
        }
        let hidden = planes.len().saturating_sub(PLANES_MAX);
        planes.truncate(PLANES_MAX);
        Some(Self {
            axes: (names[down], names[across]),
            planes,
            hidden,
            outputs: execution.census.checked,
            range: (execution.census.first_differing, execution.census.last_differing),
            differing: execution.census.differing,
            pattern: pattern(&names, &extents, &places, &listed),
            listed,
        })
    }

    /// What the listed elements have in common, one line each.
    pub(crate) fn pattern(&self) -> &[String] {
        &self.pattern
    }

    pub(super) fn caption(&self) -> String {
        let (listed, differing) = (self.listed.len() as u64, self.differing);
        let drawn = if listed >= differing {
            match listed {
                1 => "The one element that differs from the reference rounded once is drawn.".to_owned(),
                _ => format!("All {listed} elements that differ from the reference rounded once are drawn."),
            }
        } else {
            format!(
                "Drawn are the first {listed} of the {differing} elements that differ from the reference rounded \
                 once; the bar shows the range that all of them lie in."
            )
        };
        let (rows, columns) = self.planes.first().map_or((1, 1), |(_, plane)| plane.bin());
        let bins = if rows * columns > 1 {
            format!(" A cell stands for {rows} x {columns} elements.")
        } else {
            String::new()
        };
        let hidden = if self.hidden > 0 {
            format!(" {} more planes with listed elements are left out.", self.hidden)
        } else {
            String::new()
        };
        format!("{drawn}{bins}{hidden} Red, or # in characters: wrong; blank, or a dot: not listed as wrong.")
    }

    fn scale(&self) -> String {
        let down = self.planes.first().map_or(0, |(_, plane)| plane.down);
        let across = self.planes.first().map_or(0, |(_, plane)| plane.across);
        format!("{} 0 to {} downwards, {} 0 to {} across", self.axes.0, last(down), self.axes.1, last(across))
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n", self.scale());
        for (others, plane) in &self.planes {
            let head = if others.is_empty() { "the output" } else { others };
            text.push_str(&format!("\n{head}\n{}\n", plane.text()));
        }
        text
    }

    pub(super) fn svg(&self) -> String {
        let (rows, columns) = self.planes.first().map_or((1, 1), |(_, plane)| plane.cells());
        let cell = (EDGE / rows.max(columns) as f64).clamp(CELL.0, CELL.1);
        let (width, height) = (columns as f64 * cell, rows as f64 * cell);
        let longest = self.planes.iter().map(|(others, _)| width_of(others)).fold(width, f64::max);
        let (step_x, step_y) = (longest + 28.0, height + 40.0);
        let per_row = ((WIDTH / step_x) as usize).clamp(1, self.planes.len().max(1));
        let bands = self.planes.len().div_ceil(per_row);
        let total = (WIDTH, TOP + bands as f64 * step_y + 8.0);
        let mut drawing = Drawing::new(total.0, total.1);
        self.bar(&mut drawing);
        for (index, (others, plane)) in self.planes.iter().enumerate() {
            let x = (index % per_row) as f64 * step_x + 1.0;
            let y = TOP + (index / per_row) as f64 * step_y;
            let head = if others.is_empty() { "the output" } else { others };
            drawing.text("label", (x, y + 12.0), Anchor::Start, head);
            drawing.rectangle("plane", (x, y + 20.0), (width, height));
            grid(&mut drawing, (x, y + 20.0), plane.cells(), cell);
            for (row, column) in plane.marked_cells() {
                let corner = (x + column as f64 * cell, y + 20.0 + row as f64 * cell);
                drawing.rectangle("wrong", corner, (cell, cell));
            }
        }
        drawing.finish(&format!("{} {}.", self.caption(), self.scale()))
    }

    /// The whole output in memory of its logical order as one bar.
    fn bar(&self, drawing: &mut Drawing) {
        let outputs = self.outputs.max(1) as f64;
        let at = |position: u64| position as f64 / outputs * WIDTH;
        let label = format!("output, elements 0 to {}", last(self.outputs));
        drawing.text("label", (0.0, 12.0), Anchor::Start, &label);
        drawing.text("label", (0.0, 58.0), Anchor::Start, &self.scale());
        drawing.rectangle("plane", (0.0, 20.0), (WIDTH, 14.0));
        let (first, last) = self.range;
        let span = (at(last.saturating_add(1)) - at(first)).max(1.0);
        drawing.rectangle("range", (at(first).min(WIDTH - 1.0), 20.0), (span, 14.0));
        for position in &self.listed {
            drawing.rectangle("wrong", (at(*position).min(WIDTH - 1.0), 20.0), (1.5, 14.0));
        }
    }
}

/// Lines between cells, where those are few.
fn grid(drawing: &mut Drawing, (x, y): (f64, f64), (rows, columns): (u64, u64), cell: f64) {
    if rows.max(columns) > GRID_MAX {
        return;
    }
    let (width, height) = (columns as f64 * cell, rows as f64 * cell);
    for row in 1..rows {
        let at = y + row as f64 * cell;
        drawing.lines("grid", &[(x, at), (x + width, at)]);
    }
    for column in 1..columns {
        let at = x + column as f64 * cell;
        drawing.lines("grid", &[(at, y), (at, y + height)]);
    }
}

fn last(extent: u64) -> u64 {
    extent.saturating_sub(1)
}

/// The two axes that are drawn, in their order: the inner spatial ones where those hold more elements than
/// the two outer axes, else the two largest.
fn drawn(extents: &[u64]) -> (usize, usize) {
    let rank = extents.len();
    let area = |one: usize, other: usize| extents[one].saturating_mul(extents[other]);
    if rank > 3 && area(rank - 2, rank - 1) >= area(0, 1) {
        return (rank - 2, rank - 1);
    }
    let mut axes: Vec<usize> = (0..extents.len()).collect();
    axes.sort_by_key(|axis| (std::cmp::Reverse(extents[*axis]), std::cmp::Reverse(*axis)));
    // An output has at least three axes: two outer ones and one to three spatial ones.
    let (one, other) = (axes[0], axes[1]);
    (one.min(other), one.max(other))
}

/// Sentences about coordinates that all listed elements share.
fn pattern(names: &[&str], extents: &[u64], places: &[Vec<u64>], listed: &[u64]) -> Vec<String> {
    let mut lines = Vec::new();
    for (axis, name) in names.iter().enumerate() {
        let values: Vec<u64> = places.iter().map(|place| place[axis]).collect();
        lines.extend(along_axis(name, extents[axis], &values));
    }
    let in_a_row = listed.windows(2).all(|pair| pair[1] == pair[0] + 1);
    if listed.len() > 2 && in_a_row {
        lines.push("they follow one another in the output's order".to_owned());
    }
    lines
}

/// What the coordinates on one axis have in common; nothing where the axis has one value anyway.
fn along_axis(name: &str, extent: u64, values: &[u64]) -> Option<String> {
    let (least, most) = (*values.iter().min()?, *values.iter().max()?);
    if extent < 2 || values.len() < 2 {
        return None;
    }
    if least == most {
        let border = if most == extent - 1 {
            ", the last one"
        } else if least == 0 {
            ", the first one"
        } else {
            ""
        };
        return Some(format!("all have {name} = {least}{border}"));
    }
    if values.iter().all(|value| *value == 0 || *value == extent - 1) {
        return Some(format!("all lie on the border of {name}: 0 or {}", extent - 1));
    }
    let modulus = [64, 32, 16, 8, 4, 2]
        .into_iter()
        .find(|modulus| extent > *modulus && values.iter().all(|value| value % modulus == least % modulus));
    if let Some(modulus) = modulus
        && values.len() >= RESIDUES_MIN
    {
        return Some(format!("all have {name} mod {modulus} = {}", least % modulus));
    }
    if most == extent - 1 && least >= extent.div_ceil(2) {
        return Some(format!("all lie in the tail of {name}: {least} to {most} of 0 to {most}"));
    }
    (least > 0 || most < extent - 1).then(|| format!("{name} is between {least} and {most}"))
}
