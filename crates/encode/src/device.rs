use candle_core::Device;

/// A GPU with feature `cuda` and one that works, else the CPU.
#[cfg(feature = "cuda")]
#[must_use]
pub fn best_device() -> Device {
    Device::new_cuda(0).unwrap_or(Device::Cpu)
}

/// The CPU: this crate was built without feature `cuda`.
#[cfg(not(feature = "cuda"))]
#[must_use]
pub fn best_device() -> Device {
    Device::Cpu
}
