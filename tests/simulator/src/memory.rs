//! Device memory: host memory behind a table of live ranges. Knows addresses and sizes; knows nothing of who uses
//! them.

use std::collections::BTreeMap;

/// Every allocation starts at a multiple of this many bytes, as the real driver's do.
const ALIGNMENT: usize = 512;

/// What fresh memory holds, as far as it is worth the time: real memory is never clean.
const DIRT: u8 = 0xCD;

/// Allocations up to this many bytes are dirtied.
const DIRTIED_MAX: usize = 1 << 20;

struct Block {
    storage: Vec<u8>,
    start: usize,
    bytes: usize,
}

/// The live allocations.
#[derive(Default)]
pub(crate) struct Memory {
    blocks: BTreeMap<u64, Block>,
    used: usize,
}

impl Memory {
    /// Bytes in live allocations.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// A new allocation's address; `None` where host memory is exhausted.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Option<u64> {
        let room = bytes.checked_add(ALIGNMENT)?;
        let mut storage: Vec<u8> = Vec::new();
        storage.try_reserve_exact(room).ok()?;
        if bytes <= DIRTIED_MAX {
            storage.resize(room, DIRT);
        } else {
            // Zeroed by the system at its first use: memory that is only held costs nothing.
            storage = vec![0; room];
        }
        let start = storage.as_ptr().align_offset(ALIGNMENT);
        let address = storage.as_ptr() as u64 + start as u64;
        self.used += bytes;
        self.blocks.insert(address, Block { storage, start, bytes });
        Some(address)
    }

    /// Frees the allocation that starts at that address; false where there is none.
    pub(crate) fn free(&mut self, address: u64) -> bool {
        let Some(block) = self.blocks.remove(&address) else { return false };
        self.used -= block.bytes;
        true
    }

    /// True where all the bytes lie in one live allocation.
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        self.find(address, bytes).is_some()
    }

    fn find(&self, address: u64, bytes: u64) -> Option<(u64, usize)> {
        let (base, block) = self.blocks.range(..=address).next_back()?;
        let offset = address - base;
        let end = offset.checked_add(bytes)?;
        (end <= block.bytes as u64).then(|| (*base, usize::try_from(offset).unwrap_or(usize::MAX)))
    }

    /// The bytes at an address, where all of them are live.
    pub(crate) fn bytes(&self, address: u64, bytes: u64) -> Option<&[u8]> {
        if bytes == 0 {
            return Some(&[]);
        }
        let (base, offset) = self.find(address, bytes)?;
        let block = self.blocks.get(&base)?;
        let first = block.start + offset;
        block.storage.get(first..first + usize::try_from(bytes).ok()?)
    }

    /// The same, to be written.
    pub(crate) fn bytes_mut(&mut self, address: u64, bytes: u64) -> Option<&mut [u8]> {
        if bytes == 0 {
            return Some(&mut []);
        }
        let (base, offset) = self.find(address, bytes)?;
        let block = self.blocks.get_mut(&base)?;
        let first = block.start + offset;
        block.storage.get_mut(first..first + usize::try_from(bytes).ok()?)
    }
}
