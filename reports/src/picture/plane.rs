//! A plane of elements with some of them marked, at most so many cells across that it can be read. Knows
//! bins; knows nothing of tensors.

/// Most cells along an edge; above that a cell stands for several elements.
const CELLS_MAX: u64 = 48;

/// Marked elements of a plane.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plane {
    /// Rows of elements.
    pub(super) down: u64,
    /// Columns of elements.
    pub(super) across: u64,
    /// Row and column of each marked element.
    pub(super) marked: Vec<(u64, u64)>,
}

impl Plane {
    /// Elements in a cell, rows and columns.
    pub(super) fn bin(&self) -> (u64, u64) {
        (self.down.div_ceil(CELLS_MAX).max(1), self.across.div_ceil(CELLS_MAX).max(1))
    }

    /// Rows and columns of cells.
    pub(super) fn cells(&self) -> (u64, u64) {
        let (rows, columns) = self.bin();
        (self.down.div_ceil(rows).max(1), self.across.div_ceil(columns).max(1))
    }

    /// The cells that hold a marked element, each once, in order.
    pub(super) fn marked_cells(&self) -> Vec<(u64, u64)> {
        let (rows, columns) = self.bin();
        let mut cells: Vec<(u64, u64)> =
            self.marked.iter().map(|(row, column)| (row / rows, column / columns)).collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The plane in characters.
    pub(super) fn text(&self) -> String {
        let (rows, columns) = self.cells();
        let marked = self.marked_cells();
        let line = |row: u64| -> String {
            (0..columns).map(|column| if marked.contains(&(row, column)) { '#' } else { '.' }).collect()
        };
        (0..rows).map(line).collect::<Vec<String>>().join("\n")
    }
}
