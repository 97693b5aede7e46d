//! Pass and fail over the values of two fields. Draws what was probed; infers nothing between the cells.

use case::{Case, Cell, Map};

use super::svg::{Anchor, Drawing, width_of};

/// Edge of a cell.
const EDGE: f64 = 26.0;

/// Room above the cells.
const HEAD: f64 = 46.0;

/// Pass and fail over two fields.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegionMap {
    map: Map,
    /// Column and row of the minimized case, where the map has it.
    here: Option<(usize, usize)>,
}

impl RegionMap {
    /// The map with the minimized case marked.
    pub(crate) fn of(map: &Map, case: &Case) -> Self {
        let column = map.columns.iter().position(|value| map.across.of(case) == Some(*value));
        let row = map.rows.iter().position(|value| map.down.of(case) == Some(*value));
        Self { map: map.clone(), here: column.zip(row) }
    }

    pub(super) fn caption(&self) -> String {
        let Map { across, down, .. } = &self.map;
        format!(
            "{across} across, {down} downwards. \u{d7} the same failure, \u{b7} right, ! another failure, blank: refused or \
             not judged. The minimized case is framed."
        )
    }

    pub(super) fn text(&self) -> String {
        let Map { across, columns, down, rows, cells } = &self.map;
        let widest = rows.iter().chain(columns).map(|value| value.to_string().len()).max().unwrap_or(1);
        let head: Vec<String> = columns.iter().map(|value| format!("{value:>widest$} ")).collect();
        let mut text = format!("{down} downwards, {across} across\n\n{:>widest$} {}", "", head.join(" "));
        for (row, (value, line)) in rows.iter().zip(cells).enumerate() {
            text.push_str(&format!("\n{value:>widest$} "));
            for (column, cell) in line.iter().enumerate() {
                let mark = sign(*cell);
                let here = if self.here == Some((column, row)) { '<' } else { ' ' };
                text.push_str(&format!("{mark:>widest$}{here} "));
            }
        }
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n")
    }

    pub(super) fn svg(&self) -> String {
        let Map { across, columns, down, rows, cells } = &self.map;
        let names: Vec<String> = rows.iter().map(ToString::to_string).collect();
        let left = names.iter().map(|name| width_of(name)).fold(width_of(&down.to_string()), f64::max) + 14.0;
        let longest = columns.iter().map(|value| width_of(&value.to_string())).fold(0.0, f64::max);
        let step = EDGE.max(longest + 6.0);
        let right = (left + columns.len() as f64 * step).max(left + width_of(&across.to_string()));
        let mut drawing = Drawing::new(right + 4.0, HEAD + rows.len() as f64 * EDGE + 6.0);
        drawing.text("label strong", (left, 13.0), Anchor::Start, &across.to_string());
        drawing.text("label strong", (left - 10.0, HEAD - 10.0), Anchor::End, &down.to_string());
        for (column, value) in columns.iter().enumerate() {
            let x = left + (column as f64 + 0.5) * step;
            drawing.text("label", (x, HEAD - 10.0), Anchor::Middle, &value.to_string());
        }
        for (row, (name, line)) in names.iter().zip(cells).enumerate() {
            let y = HEAD + row as f64 * EDGE;
            drawing.text("label", (left - 10.0, y + 17.0), Anchor::End, name);
            for (column, cell) in line.iter().enumerate() {
                let x = left + column as f64 * step;
                let class = class(*cell);
                drawing.rectangle(class, (x + 1.0, y + 1.0), (step - 2.0, EDGE - 2.0));
                let mark = sign(*cell).to_string();
                drawing.text("mark", (x + step / 2.0, y + 18.0), Anchor::Middle, &mark);
            }
        }
        if let Some((column, row)) = self.here {
            let corner = (left + column as f64 * step, HEAD + row as f64 * EDGE);
            drawing.rectangle("here", corner, (step, EDGE));
        }
        drawing.finish(&self.caption())
    }
}

fn sign(cell: Cell) -> char {
    match cell {
        Cell::Fails => '\u{d7}',
        Cell::Passes => '\u{b7}',
        Cell::Other => '!',
        Cell::Unjudged => ' ',
    }
}

fn class(cell: Cell) -> &'static str {
    match cell {
        Cell::Fails => "fails",
        Cell::Passes => "passes",
        Cell::Other => "other",
        Cell::Unjudged => "unjudged",
    }
}
