//! The launch table against the PTX and against parameters counted by hand. Knows no GPU.

use bytemuck::bytes_of;
use kernel::{
    CHECK, F16, FillParams, Kernel, PAINT, PTX, Range, ReferenceParams, Refusal, Zone, ZonesParams, grid_for,
    lanes_for, pointers, reference_grid, zones_grid,
};

use crate::{gapped, packed};

#[test]
fn the_ptx_has_every_entry_with_one_parameter_of_the_declared_size() {
    assert!(PTX.contains(".version 8.0\n.target sm_70\n"));
    assert!(!PTX.contains("fma"), "fused multiply-add would differ from the twins");
    assert_eq!(PTX.matches(".entry").count(), Kernel::ALL.len());
    for kernel in Kernel::ALL {
        let (name, bytes) = (kernel.name(), kernel.param_bytes());
        let entry = format!(".visible .entry {name}(\n\t.param .align 8 .b8 {name}_param_0[{bytes}]\n)");
        assert!(PTX.contains(&entry), "{entry}");
    }
}

#[test]
fn grids_cover_small_work_and_are_capped_for_large() {
    assert_eq!([0, 1, 256, 257, u64::MAX].map(grid_for), [1, 1, 1, 2, 4096]);
    assert_eq!(reference_grid(10, 64), 3);
    let mut zones = ZonesParams { count: 2, ..ZonesParams::default() };
    zones.zones[1].bytes = 8 * 256;
    assert_eq!(zones_grid(&zones), (2, 2));
}

#[test]
fn lanes_grow_only_where_outputs_are_few_and_reductions_long() {
    assert_eq!(lanes_for(1 << 20, 1 << 20), 1);
    assert_eq!(lanes_for(1, 1 << 20), 256);
    assert_eq!(lanes_for(1, 9), 1);
    assert_eq!(lanes_for(1, 64), 8);
    assert_eq!(lanes_for(1 << 16, 4096), 4);
    assert_eq!(lanes_for(0, 0), 1);
}

#[test]
fn a_fill_touches_its_view_to_the_last_element() {
    let mut view = gapped(F16, [2, 3, 1, 2, 2]);
    view.pointer = 0x1000;
    let params = FillParams { view, ..FillParams::default() };
    // Last element: 1 * 16 + 2 * 1 + 1 * 8 + 1 * 4 = 30.
    let expected = Range { pointer: 0x1000, bytes: 62, writes: true };
    assert_eq!(pointers(Kernel::Fill, bytes_of(&params)), Ok(vec![expected]));
    let short = &bytes_of(&params)[1..];
    assert_eq!(pointers(Kernel::Fill, short), Err(Refusal::ParamBytes { expected: 136, actual: 135 }));
}

#[test]
fn a_reference_never_touches_its_output_tensor() {
    let view = |pointer, extent| kernel::TensorView { pointer, ..packed(F16, extent) };
    let params = ReferenceParams {
        op: kernel::DGRAD,
        x: view(1, [1, 1, 1, 1, 5]),
        w: view(2, [1, 1, 1, 1, 2]),
        y: view(3, [1, 1, 1, 1, 4]),
        result: 4,
        abs_sum: 5,
        totals: 6,
        ..ReferenceParams::default()
    };
    let ranges = pointers(Kernel::Reference, bytes_of(&params)).unwrap();
    let seen: Vec<_> = ranges.iter().map(|range| (range.pointer, range.bytes, range.writes)).collect();
    assert_eq!(seen, [(3, 8, false), (2, 4, false), (4, 40, true), (5, 40, true), (6, 40, true)]);
}

#[test]
fn zones_are_written_when_painted_and_read_when_checked() {
    let mut params = ZonesParams { mode: PAINT, count: 2, totals: 9, ..ZonesParams::default() };
    params.zones[0] = Zone { pointer: 1, bytes: 7, ..Zone::default() };
    let painted = pointers(Kernel::Zones, bytes_of(&params)).unwrap();
    assert_eq!(painted, [Range { pointer: 1, bytes: 7, writes: true }]);
    params.mode = CHECK;
    let checked = pointers(Kernel::Zones, bytes_of(&params)).unwrap();
    let totals = Range { pointer: 9, bytes: 48, writes: true };
    assert_eq!(checked, [Range { pointer: 1, bytes: 7, writes: false }, totals]);
    params.count = 17;
    assert_eq!(pointers(Kernel::Zones, bytes_of(&params)), Err(Refusal::Zones));
}
