//! The driver's state: what is refused before, during and after the life of a context.

use kernel::{DiffParams, DiffTotals, Kernel};

use super::*;

fn started() -> Driver {
    let mut driver = Driver::new(1);
    driver.initialize().unwrap();
    driver.set_current(true);
    driver
}

const ONE_BLOCK: Dimensions = Dimensions { grid: [1, 1, 1], block: [256, 1, 1] };

#[test]
fn calls_need_a_device_initialization_and_a_context() {
    assert_eq!(Driver::new(0).initialize(), Err(CuResult::NO_DEVICE));
    let mut driver = Driver::new(1);
    assert_eq!(driver.ready(), Err(CuResult::NOT_INITIALIZED));
    driver.initialize().unwrap();
    assert_eq!(driver.allocate(1), Err(CuResult::INVALID_CONTEXT));
    assert_eq!(driver.device(1), Err(CuResult::INVALID_DEVICE));
}

#[test]
fn memory_is_bounded_and_its_ranges_are_exact() {
    let mut driver = started();
    assert_eq!(driver.allocate(TOTAL_BYTES + 1), Err(CuResult::OUT_OF_MEMORY));
    let address = driver.allocate(100).unwrap();
    assert!(address.is_multiple_of(512));
    assert!(driver.holds(address, 100) && !driver.holds(address, 101) && !driver.holds(address - 1, 1));
    assert!(driver.bytes(address + 99, 1).is_ok() && driver.bytes(u64::MAX, 2).is_err());
    assert_eq!(driver.info().map(|(free, _)| TOTAL_BYTES - free), Ok(100));
    assert_eq!(driver.free(address + 1), Err(CuResult::INVALID_VALUE));
    assert_eq!(driver.free(address), Ok(()));
    assert_eq!(driver.free(address), Err(CuResult::INVALID_VALUE));
}

#[test]
fn an_error_of_the_device_shows_at_the_next_wait_and_stays() {
    let mut driver = started();
    driver.scribble(64, 1, 0);
    assert_eq!(driver.allocate(8).map(|_| ()), Ok(()));
    assert_eq!(driver.synchronize(), Err(CuResult::ILLEGAL_ADDRESS));
    assert_eq!(driver.synchronize(), Err(CuResult::ILLEGAL_ADDRESS));
    assert_eq!(driver.allocate(8), Err(CuResult::ILLEGAL_ADDRESS));
}

#[test]
fn a_launch_counts_on_top_of_what_memory_holds() {
    let mut driver = started();
    let (a, b, totals) =
        (driver.allocate(4).unwrap(), driver.allocate(4).unwrap(), driver.allocate(16).unwrap());
    driver.bytes_mut(a, 4).unwrap().copy_from_slice(&[1, 2, 3, 4]);
    driver.bytes_mut(b, 4).unwrap().copy_from_slice(&[1, 9, 3, 9]);
    driver.bytes_mut(totals, 16).unwrap().copy_from_slice(bytemuck::bytes_of(&DiffTotals::START));
    let params = DiffParams { a, b, bytes_per_element: 1, count: 4, totals };
    for expected in [2, 4] {
        driver.launch(Kernel::Diff, ONE_BLOCK, bytemuck::bytes_of(&params)).unwrap();
        driver.synchronize().unwrap();
        let seen: DiffTotals = bytemuck::pod_read_unaligned(driver.bytes(totals, 16).unwrap());
        assert_eq!(seen, DiffTotals { differing: expected, first: 1 });
    }
}

#[test]
fn impossible_launches_are_refused_at_once() {
    let mut driver = started();
    let params = DiffParams::default();
    let mut launch =
        |grid, block| driver.launch(Kernel::Diff, Dimensions { grid, block }, bytemuck::bytes_of(&params));
    for (grid, block) in [
        ([0, 1, 1], [256, 1, 1]),
        ([1, 70_000, 1], [256, 1, 1]),
        ([1, 1, 1], [2048, 1, 1]),
        ([1, 1, 1], [64, 1, 1]),
    ] {
        assert_eq!(launch(grid, block), Err(CuResult::INVALID_VALUE));
    }
}

#[test]
fn a_module_offers_the_entries_that_its_text_declares() {
    let names = |text: &str| entries(text).map(|kernels| kernels.len());
    assert_eq!(names(kernel::PTX), Ok(Kernel::ALL.len()));
    assert_eq!(names(".version 8.0\n.target sm_70\n.visible .entry convict_fill("), Ok(1));
    assert_eq!(names(".version 8.0\n.target sm_70\n.visible .entry stranger("), Err(CuResult::INVALID_IMAGE));
    assert_eq!(names("no module"), Err(CuResult::INVALID_IMAGE));
}

#[test]
fn the_visible_devices_are_those_named_first() {
    let counts =
        [(None, 1), (Some("0"), 1), (Some(""), 0), (Some("-1"), 0), (Some("1"), 0), (Some("0,0"), 1)];
    for (variable, expected) in counts {
        assert_eq!(visible(1, variable), expected, "{variable:?}");
    }
}
