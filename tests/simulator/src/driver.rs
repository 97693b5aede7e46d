//! The simulated driver's state: device, context, memory, modules, and the error that ends a context. Knows results
//! by number; foreign pointers stay outside.

use abi::cuda::CuResult;
use kernel::Kernel;

use crate::launch;
use crate::memory::Memory;

/// Device memory in all, bytes.
pub const TOTAL_BYTES: usize = 1 << 30;

/// Name of the device.
pub const DEVICE_NAME: &str = "convict simulator";

/// Compute capability, major and minor.
pub const CAPABILITY: (i32, i32) = (9, 0);

/// CUDA version that the driver supports, 1000 * major + 10 * minor.
pub const CUDA_VERSION: i32 = 13_000;

/// Most threads of a block.
const THREADS_MAX: u64 = 1024;

/// Most blocks along y and z.
const BLOCKS_MAX: u32 = 65_535;

/// Grid and block of a launch, x y z each.
#[derive(Clone, Copy, Debug)]
pub struct Dimensions {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
}

/// The driver of one process.
#[derive(Default)]
pub struct Driver {
    memory: Memory,
    fills: launch::Fills,
    devices: i32,
    initialized: bool,
    current: bool,
    /// An error of the device that no call has reported yet.
    pending: Option<CuResult>,
    /// The error that every call reports from now on.
    lost: Option<CuResult>,
}

impl Driver {
    /// A driver that sees so many devices; 0 stands for a machine without a GPU.
    #[must_use]
    pub fn new(devices: i32) -> Self {
        Self { devices, ..Self::default() }
    }

    /// `cuInit`.
    ///
    /// # Errors
    /// No device.
    pub fn initialize(&mut self) -> Result<(), CuResult> {
        if self.devices == 0 {
            return Err(CuResult::NO_DEVICE);
        }
        self.initialized = true;
        Ok(())
    }

    /// Visible devices.
    ///
    /// # Errors
    /// No device, or not initialized.
    pub fn devices(&self) -> Result<i32, CuResult> {
        match (self.devices, self.initialized) {
            (0, _) => Err(CuResult::NO_DEVICE),
            (_, false) => Err(CuResult::NOT_INITIALIZED),
            (devices, true) => Ok(devices),
        }
    }

    /// Refuses a device that is not there.
    ///
    /// # Errors
    /// No such device, or not initialized.
    pub fn device(&self, ordinal: i32) -> Result<(), CuResult> {
        if !self.initialized {
            return Err(CuResult::NOT_INITIALIZED);
        }
        if (0..self.devices).contains(&ordinal) { Ok(()) } else { Err(CuResult::INVALID_DEVICE) }
    }

    /// Makes a context current, or none.
    pub fn set_current(&mut self, current: bool) {
        self.current = current;
    }

    /// True where a context is current.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.current
    }

    /// Whether calls that only queue work are answered.
    ///
    /// # Errors
    /// Not initialized, no context, or a lost one.
    pub fn ready(&self) -> Result<(), CuResult> {
        if !self.initialized {
            return Err(CuResult::NOT_INITIALIZED);
        }
        if let Some(lost) = self.lost {
            return Err(lost);
        }
        if self.current { Ok(()) } else { Err(CuResult::INVALID_CONTEXT) }
    }

    /// Waits for the device: this is where its errors come to light.
    ///
    /// # Errors
    /// As `ready`, and the device's error, which stays.
    pub fn synchronize(&mut self) -> Result<(), CuResult> {
        self.ready()?;
        match self.pending.take() {
            Some(error) => {
                self.lost = Some(error);
                Err(error)
            }
            None => Ok(()),
        }
    }

    /// The device meets an error, which the next synchronization reports.
    pub fn poison(&mut self, error: CuResult) {
        self.pending.get_or_insert(error);
    }

    /// Allocates.
    ///
    /// # Errors
    /// As `ready`; no bytes asked for; memory exhausted.
    pub fn allocate(&mut self, bytes: usize) -> Result<u64, CuResult> {
        self.ready()?;
        if bytes == 0 {
            return Err(CuResult::INVALID_VALUE);
        }
        if bytes > TOTAL_BYTES - self.memory.used() {
            return Err(CuResult::OUT_OF_MEMORY);
        }
        self.memory.allocate(bytes).ok_or(CuResult::OUT_OF_MEMORY)
    }

    /// Frees; the null pointer is ignored.
    ///
    /// # Errors
    /// As `ready`; an address that no live allocation starts at.
    pub fn free(&mut self, address: u64) -> Result<(), CuResult> {
        self.ready()?;
        if address == 0 || self.memory.free(address) { Ok(()) } else { Err(CuResult::INVALID_VALUE) }
    }

    /// Free and total memory, bytes.
    ///
    /// # Errors
    /// As `ready`.
    pub fn info(&self) -> Result<(usize, usize), CuResult> {
        self.ready()?;
        Ok((TOTAL_BYTES - self.memory.used(), TOTAL_BYTES))
    }

    /// True where all the bytes lie in one live allocation.
    #[must_use]
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        self.memory.holds(address, bytes)
    }

    /// Device memory to read.
    ///
    /// # Errors
    /// As `ready`; an address outside live memory, which the driver notices before the device does.
    pub fn bytes(&self, address: u64, bytes: usize) -> Result<&[u8], CuResult> {
        self.ready()?;
        self.memory.bytes(address, bytes as u64).ok_or(CuResult::INVALID_VALUE)
    }

    /// Device memory to write.
    ///
    /// # Errors
    /// As `bytes`.
    pub fn bytes_mut(&mut self, address: u64, bytes: usize) -> Result<&mut [u8], CuResult> {
        self.ready()?;
        self.memory.bytes_mut(address, bytes as u64).ok_or(CuResult::INVALID_VALUE)
    }

    /// Writes as a kernel does: outside live memory the context is lost.
    pub fn scribble(&mut self, address: u64, bytes: u64, value: u8) {
        match self.memory.bytes_mut(address, bytes) {
            Some(target) => target.fill(value),
            None => self.poison(CuResult::ILLEGAL_ADDRESS),
        }
    }

    /// Runs a kernel on the bytes of its parameter struct. What goes wrong on the device shows later.
    ///
    /// # Errors
    /// As `ready`; a grid or block that no device takes.
    pub fn launch(&mut self, kernel: Kernel, size: Dimensions, params: &[u8]) -> Result<(), CuResult> {
        self.ready()?;
        let threads: u64 = size.block.iter().map(|count| u64::from(*count)).product();
        let [_, y, z] = size.grid;
        let empty = threads == 0 || size.grid.contains(&0);
        if empty || threads > THREADS_MAX || y > BLOCKS_MAX || z > BLOCKS_MAX {
            return Err(CuResult::INVALID_VALUE);
        }
        // The kernels count on whole blocks of their own size.
        if size.block != [kernel.block(), 1, 1] {
            return Err(CuResult::INVALID_VALUE);
        }
        if self.pending.is_none()
            && launch::launch(&mut self.memory, &mut self.fills, kernel, params).is_err()
        {
            self.poison(CuResult::ILLEGAL_ADDRESS);
        }
        Ok(())
    }
}

/// The kernels that a module's PTX declares.
///
/// # Errors
/// Text that is no PTX, or that declares an entry which is none of ours: nothing can run it.
pub fn entries(image: &str) -> Result<Vec<Kernel>, CuResult> {
    if !image.contains(".version") || !image.contains(".target") {
        return Err(CuResult::INVALID_IMAGE);
    }
    image
        .split(".visible .entry")
        .skip(1)
        .map(|rest| {
            let name = rest.trim_start().split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next();
            Kernel::ALL.into_iter().find(|kernel| Some(kernel.name()) == name).ok_or(CuResult::INVALID_IMAGE)
        })
        .collect()
}

/// Devices that remain of one, given the value of `CUDA_VISIBLE_DEVICES`: entries count up to the first that names
/// none.
#[must_use]
pub fn visible(devices: i32, variable: Option<&str>) -> i32 {
    let Some(list) = variable else { return devices };
    let named = |entry: &str| {
        entry.trim().parse::<i32>().is_ok_and(|ordinal| (0..devices).contains(&ordinal))
            || (entry.trim().starts_with("GPU-") && devices > 0)
    };
    list.split(',').take_while(|entry| named(entry)).map(|_| 1).sum::<i32>().min(devices)
}

#[cfg(test)]
mod tests;
