//! `cudnnStatus_t`: the numbers of cuDNN 8 and 9, which share nothing but 0. Knows names and families.

/// `cudnnStatus_t` as the library returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Status(pub i32);

/// Statuses of cuDNN 8.x. Source: cudnn_ops_infer.h of 8.9.7.
const V8: [(i32, &str); 15] = [
    (0, "SUCCESS"),
    (1, "NOT_INITIALIZED"),
    (2, "ALLOC_FAILED"),
    (3, "BAD_PARAM"),
    (4, "INTERNAL_ERROR"),
    (5, "INVALID_VALUE"),
    (6, "ARCH_MISMATCH"),
    (7, "MAPPING_ERROR"),
    (8, "EXECUTION_FAILED"),
    (9, "NOT_SUPPORTED"),
    (10, "LICENSE_ERROR"),
    (11, "RUNTIME_PREREQUISITE_MISSING"),
    (12, "RUNTIME_IN_PROGRESS"),
    (13, "RUNTIME_FP_OVERFLOW"),
    (14, "VERSION_MISMATCH"),
];

/// Statuses of cuDNN 9.x. Source: cudnn_graph.h of 9.28.1.
const V9: [(i32, &str); 49] = [
    (0, "SUCCESS"),
    (1001, "NOT_INITIALIZED"),
    (1002, "SUBLIBRARY_VERSION_MISMATCH"),
    (1003, "SERIALIZATION_VERSION_MISMATCH"),
    (1004, "DEPRECATED"),
    (1005, "LICENSE_ERROR"),
    (1006, "RUNTIME_IN_PROGRESS"),
    (1007, "RUNTIME_FP_OVERFLOW"),
    (1008, "SUBLIBRARY_LOADING_FAILED"),
    (2000, "BAD_PARAM"),
    (2001, "INVALID_VALUE"),
    (2002, "BAD_PARAM_NULL_POINTER"),
    (2003, "BAD_PARAM_MISALIGNED_POINTER"),
    (2004, "BAD_PARAM_NOT_FINALIZED"),
    (2005, "BAD_PARAM_OUT_OF_BOUND"),
    (2006, "BAD_PARAM_SIZE_INSUFFICIENT"),
    (2007, "BAD_PARAM_STREAM_MISMATCH"),
    (2008, "BAD_PARAM_SHAPE_MISMATCH"),
    (2009, "BAD_PARAM_DUPLICATED_ENTRIES"),
    (2010, "BAD_PARAM_ATTRIBUTE_TYPE"),
    (2011, "BAD_PARAM_CUDA_GRAPH_MISMATCH"),
    (2012, "BAD_PARAM_DESCRIPTOR_TYPE"),
    (3000, "NOT_SUPPORTED"),
    (3001, "NOT_SUPPORTED_GRAPH_PATTERN"),
    (3002, "NOT_SUPPORTED_SHAPE"),
    (3003, "NOT_SUPPORTED_DATA_TYPE"),
    (3004, "NOT_SUPPORTED_LAYOUT"),
    (3005, "NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER"),
    (3006, "NOT_SUPPORTED_INCOMPATIBLE_CUDART"),
    (3007, "NOT_SUPPORTED_ARCH_MISMATCH"),
    (3008, "NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING"),
    (3009, "NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE"),
    (3010, "NOT_SUPPORTED_SHARED_MEMORY_INSUFFICIENT"),
    (3011, "NOT_SUPPORTED_PADDING"),
    (3012, "NOT_SUPPORTED_BAD_LAUNCH_PARAM"),
    (3013, "NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API"),
    (3014, "NOT_SUPPORTED_INVALID_DYNAMIC_SHAPE"),
    (4000, "INTERNAL_ERROR"),
    (4001, "INTERNAL_ERROR_COMPILATION_FAILED"),
    (4002, "INTERNAL_ERROR_UNEXPECTED_VALUE"),
    (4003, "INTERNAL_ERROR_HOST_ALLOCATION_FAILED"),
    (4004, "INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
    (4005, "INTERNAL_ERROR_BAD_LAUNCH_PARAM"),
    (4006, "INTERNAL_ERROR_TEXTURE_CREATION_FAILED"),
    (5000, "EXECUTION_FAILED"),
    (5001, "EXECUTION_FAILED_CUDA_DRIVER"),
    (5002, "EXECUTION_FAILED_CUBLAS"),
    (5003, "EXECUTION_FAILED_CUDART"),
    (5004, "EXECUTION_FAILED_CURAND"),
];

impl Status {
    /// Success, in every version.
    pub const SUCCESS: Self = Self(0);

    /// True for success.
    #[must_use]
    pub fn is_success(self) -> bool {
        self == Self::SUCCESS
    }

    /// True where the status says that the library does not support what was asked: a legitimate answer before
    /// execution. `version` is `cudnnGetVersion`'s.
    #[must_use]
    pub fn is_refusal(self, version: u64) -> bool {
        if version >= 90_000 { (3000..4000).contains(&self.0) } else { matches!(self.0, 6 | 9 | 11) }
    }

    /// Name without the `CUDNN_STATUS_` prefix in the table of the library's version, as `cudnnGetVersion` gives
    /// it; unknown numbers print as `STATUS_n`.
    #[must_use]
    pub fn name(self, version: u64) -> String {
        let table: &[(i32, &str)] = if version >= 90_000 { &V9 } else { &V8 };
        table
            .iter()
            .find(|(number, _)| *number == self.0)
            .map_or_else(|| format!("STATUS_{}", self.0), |(_, name)| (*name).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_has_the_name_of_the_loaded_version() {
        assert_eq!(Status(9).name(8907), "NOT_SUPPORTED");
        assert_eq!(Status(3007).name(91_900), "NOT_SUPPORTED_ARCH_MISMATCH");
        assert_eq!(Status(9).name(91_900), "STATUS_9");
        assert_eq!(Status(0).name(8907), Status(0).name(91_900));
    }

    #[test]
    fn tables_are_sorted_and_unique() {
        for table in [&V8[..], &V9[..]] {
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
