//! Device buffers between guard zones, kept for the next case. Knows addresses and sizes; paints nothing itself.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use abi::cuda::DevicePointer;

use crate::driver::Driver;
use crate::error::CallError;

/// One allocation that grows and is used again.
#[derive(Clone, Copy, Debug)]
struct Block {
    base: DevicePointer,
    capacity: u64,
}

/// A payload with guard bytes directly before its first and directly after its last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// First byte of the payload.
    pub pointer: DevicePointer,
    /// Bytes of the payload.
    pub bytes: u64,
    /// Guard bytes on each side.
    pub guard: u64,
}

impl Guarded {
    /// Address of the guard before the payload.
    #[must_use]
    pub fn before(&self) -> DevicePointer {
        self.pointer - self.guard
    }

    /// Address of the guard after the payload.
    #[must_use]
    pub fn after(&self) -> DevicePointer {
        self.pointer + self.bytes
    }
}

/// Named allocations of a worker. Each name has an allocation of its own, so that no buffer neighbours another.
pub struct Arena {
    driver: Rc<Driver>,
    blocks: RefCell<HashMap<String, Block>>,
    limit: u64,
}

/// Largest alignment that a payload may ask for; allocations leave room for it.
const ALIGNMENT_MAX: u64 = 1 << 20;

impl Arena {
    /// An arena whose cases may take `limit` bytes each.
    #[must_use]
    pub fn new(driver: Rc<Driver>, limit: u64) -> Self {
        Self { driver, blocks: RefCell::default(), limit }
    }

    /// Most bytes that one case may take.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Called between cases: gives everything back where leftovers of large cases would crowd the next one.
    pub fn trim(&self) {
        let held: u64 = self.blocks.borrow().values().map(|block| block.capacity).sum();
        if held > self.limit / 2 {
            self.clear();
        }
    }

    /// A payload of that many bytes whose address is a multiple of `alignment` and of no larger power of two up
    /// to 1 MiB. Contents are undefined. The same name gives the same memory as long as it is large enough.
    ///
    /// # Errors
    /// Out of memory, or the driver's error.
    pub fn guarded(&self, name: &str, bytes: u64, guard: u64, alignment: u64) -> Result<Guarded, CallError> {
        let slack = if alignment < 256 { 512 } else { 2 * alignment.min(ALIGNMENT_MAX) };
        let base = self.block(name, bytes + 2 * guard + slack)?;
        let first = base + guard;
        let mut pointer = first.next_multiple_of(alignment);
        if pointer.is_multiple_of(2 * alignment) {
            pointer += alignment;
        }
        Ok(Guarded { pointer, bytes, guard })
    }

    /// Plain memory without guards, 256-byte aligned.
    ///
    /// # Errors
    /// Out of memory, or the driver's error.
    pub fn plain(&self, name: &str, bytes: u64) -> Result<DevicePointer, CallError> {
        self.block(name, bytes)
    }

    fn block(&self, name: &str, bytes: u64) -> Result<DevicePointer, CallError> {
        let mut blocks = self.blocks.borrow_mut();
        if let Some(block) = blocks.get(name)
            && block.capacity >= bytes
        {
            return Ok(block.base);
        }
        if let Some(small) = blocks.remove(name) {
            self.driver.free(small.base);
        }
        // A third more than asked saves most regrowth between cases of similar size.
        let capacity = (bytes + bytes / 3).next_multiple_of(512);
        let base = self.driver.allocate(capacity)?;
        blocks.insert(name.to_owned(), Block { base, capacity });
        Ok(base)
    }

    /// Gives everything back.
    pub fn clear(&self) {
        for (_, block) in self.blocks.borrow_mut().drain() {
            self.driver.free(block.base);
        }
    }
}
