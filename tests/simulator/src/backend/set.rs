//! Which attributes a descriptor takes, of which type and in which number. Knows that table; derives nothing.

use abi::cudnn::{Attribute as A, AttributeType as T, DIM_MAX, DescriptorType as D};

use super::descriptor::{Data, Descriptor};
use crate::stop::{self, Stop};

/// Descriptor kind, attribute, types that it may have, most elements.
type Row = (D, A, &'static [T], usize);

/// Most elements of attributes without a limit of their own.
const MANY: usize = 1 << 26;

const SCALE: &[T] = &[T::FLOAT, T::DOUBLE];

/// What can be set. Source: attribute tables of cudnn_graph.h.
const ROWS: [Row; 83] = [
    (D::TENSOR, A::TENSOR_ALIGNMENT, &[T::INT64], 1),
    (D::TENSOR, A::TENSOR_DATA_TYPE, &[T::DATA_TYPE], 1),
    (D::TENSOR, A::TENSOR_DIMENSIONS, &[T::INT64], DIM_MAX),
    (D::TENSOR, A::TENSOR_STRIDES, &[T::INT64], DIM_MAX),
    (D::TENSOR, A::TENSOR_UNIQUE_ID, &[T::INT64], 1),
    (D::TENSOR, A::TENSOR_VECTOR_COUNT, &[T::INT64], 1),
    (D::TENSOR, A::TENSOR_VECTORIZED_DIMENSION, &[T::INT64], 1),
    (D::CONVOLUTION, A::CONVOLUTION_COMPUTE_TYPE, &[T::DATA_TYPE], 1),
    (D::CONVOLUTION, A::CONVOLUTION_MODE, &[T::CONVOLUTION_MODE], 1),
    (D::CONVOLUTION, A::CONVOLUTION_DILATIONS, &[T::INT64], DIM_MAX),
    (D::CONVOLUTION, A::CONVOLUTION_STRIDES, &[T::INT64], DIM_MAX),
    (D::CONVOLUTION, A::CONVOLUTION_POST_PADDINGS, &[T::INT64], DIM_MAX),
    (D::CONVOLUTION, A::CONVOLUTION_PRE_PADDINGS, &[T::INT64], DIM_MAX),
    (D::CONVOLUTION, A::CONVOLUTION_SPATIAL_DIMS, &[T::INT64], 1),
    (D::OPERATION_FORWARD, A::FORWARD_ALPHA, SCALE, 1),
    (D::OPERATION_FORWARD, A::FORWARD_BETA, SCALE, 1),
    (D::OPERATION_FORWARD, A::FORWARD_CONVOLUTION, &[T::DESCRIPTOR], 1),
    (D::OPERATION_FORWARD, A::FORWARD_W, &[T::DESCRIPTOR], 1),
    (D::OPERATION_FORWARD, A::FORWARD_X, &[T::DESCRIPTOR], 1),
    (D::OPERATION_FORWARD, A::FORWARD_Y, &[T::DESCRIPTOR], 1),
    (D::OPERATION_BACKWARD_DATA, A::BACKWARD_DATA_ALPHA, SCALE, 1),
    (D::OPERATION_BACKWARD_DATA, A::BACKWARD_DATA_BETA, SCALE, 1),
    (D::OPERATION_BACKWARD_DATA, A::BACKWARD_DATA_CONVOLUTION, &[T::DESCRIPTOR], 1),
    (D::OPERATION_BACKWARD_DATA, A::BACKWARD_DATA_W, &[T::DESCRIPTOR], 1),
    (D::OPERATION_BACKWARD_DATA, A::BACKWARD_DATA_DX, &[T::DESCRIPTOR], 1),
    (D::OPERATION_BACKWARD_DATA, A::BACKWARD_DATA_DY, &[T::DESCRIPTOR], 1),
    (D::OPERATION_BACKWARD_FILTER, A::BACKWARD_FILTER_ALPHA, SCALE, 1),
    (D::OPERATION_BACKWARD_FILTER, A::BACKWARD_FILTER_BETA, SCALE, 1),
    (D::OPERATION_BACKWARD_FILTER, A::BACKWARD_FILTER_CONVOLUTION, &[T::DESCRIPTOR], 1),
    (D::OPERATION_BACKWARD_FILTER, A::BACKWARD_FILTER_DW, &[T::DESCRIPTOR], 1),
    (D::OPERATION_BACKWARD_FILTER, A::BACKWARD_FILTER_X, &[T::DESCRIPTOR], 1),
    (D::OPERATION_BACKWARD_FILTER, A::BACKWARD_FILTER_DY, &[T::DESCRIPTOR], 1),
    (D::RESAMPLE, A::RESAMPLE_MODE, &[T::RESAMPLE_MODE], 1),
    (D::RESAMPLE, A::RESAMPLE_COMPUTE_TYPE, &[T::DATA_TYPE], 1),
    (D::RESAMPLE, A::RESAMPLE_NAN_PROPAGATION, &[T::NAN_PROPAGATION], 1),
    (D::RESAMPLE, A::RESAMPLE_PADDING_MODE, &[T::PADDING_MODE], 1),
    (D::RESAMPLE, A::RESAMPLE_SPATIAL_DIMS, &[T::INT64], 1),
    (D::RESAMPLE, A::RESAMPLE_WINDOW_DIMS, &[T::FRACTION], DIM_MAX),
    (D::RESAMPLE, A::RESAMPLE_PRE_PADDINGS, &[T::FRACTION], DIM_MAX),
    (D::RESAMPLE, A::RESAMPLE_POST_PADDINGS, &[T::FRACTION], DIM_MAX),
    (D::RESAMPLE, A::RESAMPLE_STRIDES, &[T::FRACTION], DIM_MAX),
    (D::OPERATION_RESAMPLE, A::RESAMPLE_X, &[T::DESCRIPTOR], 1),
    (D::OPERATION_RESAMPLE, A::RESAMPLE_Y, &[T::DESCRIPTOR], 1),
    (D::OPERATION_RESAMPLE, A::RESAMPLE_ALPHA, SCALE, 1),
    (D::OPERATION_RESAMPLE, A::RESAMPLE_BETA, SCALE, 1),
    (D::OPERATION_RESAMPLE, A::RESAMPLE_PARAMETERS, &[T::DESCRIPTOR], 1),
    (D::MATMUL, A::MATMUL_COMPUTE_TYPE, &[T::DATA_TYPE], 1),
    (D::OPERATION_MATMUL, A::MATMUL_A, &[T::DESCRIPTOR], 1),
    (D::OPERATION_MATMUL, A::MATMUL_B, &[T::DESCRIPTOR], 1),
    (D::OPERATION_MATMUL, A::MATMUL_C, &[T::DESCRIPTOR], 1),
    (D::OPERATION_MATMUL, A::MATMUL_PARAMETERS, &[T::DESCRIPTOR], 1),
    (D::OPERATION_NORM, A::NORM_MODE, &[T::NORM_MODE], 1),
    (D::OPERATION_NORM, A::NORM_PHASE, &[T::NORM_PHASE], 1),
    (D::OPERATION_NORM, A::NORM_X, &[T::DESCRIPTOR], 1),
    (D::OPERATION_NORM, A::NORM_SCALE, &[T::DESCRIPTOR], 1),
    (D::OPERATION_NORM, A::NORM_EPSILON, &[T::DESCRIPTOR], 1),
    (D::OPERATION_NORM, A::NORM_Y, &[T::DESCRIPTOR], 1),
    (D::OPERATION_GRAPH, A::GRAPH_HANDLE, &[T::HANDLE], 1),
    (D::OPERATION_GRAPH, A::GRAPH_OPERATIONS, &[T::DESCRIPTOR], MANY),
    (D::ENGINE, A::ENGINE_GRAPH, &[T::DESCRIPTOR], 1),
    (D::ENGINE, A::ENGINE_INDEX, &[T::INT64], 1),
    (D::ENGINE, A::ENGINE_DEVICE_PROPERTIES, &[T::DESCRIPTOR], 1),
    (D::ENGINE_HEURISTIC, A::HEURISTIC_MODE, &[T::HEURISTIC_MODE], 1),
    (D::ENGINE_HEURISTIC, A::HEURISTIC_GRAPH, &[T::DESCRIPTOR], 1),
    (D::ENGINE_HEURISTIC, A::HEURISTIC_DEVICE_PROPERTIES, &[T::DESCRIPTOR], 1),
    (D::KNOB_CHOICE, A::KNOB_TYPE, &[T::KNOB_TYPE], 1),
    (D::KNOB_CHOICE, A::KNOB_VALUE, &[T::INT64], 1),
    (D::ENGINE_CONFIG, A::CONFIG_ENGINE, &[T::DESCRIPTOR], 1),
    (D::ENGINE_CONFIG, A::CONFIG_KNOB_CHOICES, &[T::DESCRIPTOR], MANY),
    (D::EXECUTION_PLAN, A::PLAN_HANDLE, &[T::HANDLE], 1),
    (D::EXECUTION_PLAN, A::PLAN_CONFIG, &[T::DESCRIPTOR], 1),
    (D::EXECUTION_PLAN, A::PLAN_JSON, &[T::CHAR], MANY),
    (D::EXECUTION_PLAN, A::PLAN_DEVICE_PROPERTIES, &[T::DESCRIPTOR], 1),
    (D::VARIANT_PACK, A::PACK_UNIQUE_IDS, &[T::INT64], MANY),
    (D::VARIANT_PACK, A::PACK_DATA_POINTERS, &[T::VOID_POINTER], MANY),
    (D::VARIANT_PACK, A::PACK_WORKSPACE, &[T::VOID_POINTER], 1),
    (D::DEVICE_PROPERTIES, A::DEVICE_ID, &[T::INT32], 1),
    (D::DEVICE_PROPERTIES, A::DEVICE_HANDLE, &[T::HANDLE], 1),
    (D::DEVICE_PROPERTIES, A::DEVICE_JSON, &[T::CHAR], MANY),
    // Known and without meaning here: virtual tensors, target counts of multiprocessors.
    (D::TENSOR, A(907), &[T::BOOLEAN], 1),
    (D::TENSOR, A(908), &[T::BOOLEAN], 1),
    (D::ENGINE, A(1306), &[T::INT32], 1),
    (D::ENGINE_HEURISTIC, A(203), &[T::INT32], 1),
];

impl Descriptor {
    /// Checks that an attribute may be set with that type and number of elements, before any is read.
    ///
    /// # Errors
    /// A status of the 2000s, as the real library gives.
    pub fn may_set(&self, name: A, kind: T, count: i64) -> Result<(), Stop> {
        if self.finished.is_some() {
            return Err(Stop::bad_param("descriptor is finalized already"));
        }
        let row = ROWS.iter().find(|(owner, known, _, _)| *owner == self.kind && *known == name);
        let Some((_, _, types, most)) = row else {
            return Err(Stop::bad_param(format!("attribute {} of descriptor {}", name.0, self.kind.0)));
        };
        if !types.contains(&kind) {
            return Err(Stop::status(
                stop::ATTRIBUTE_TYPE,
                format!("attribute {} is not of type {}", name.0, kind.0),
            ));
        }
        match usize::try_from(count) {
            Ok(count) if (1..=*most).contains(&count) => Ok(()),
            Ok(_) | Err(_) => {
                Err(Stop::bad_param(format!("attribute {} takes 1 to {most} elements, not {count}", name.0)))
            }
        }
    }

    /// Sets an attribute that `may_set` allowed.
    pub fn set(&mut self, name: A, data: Data) {
        self.set.insert(name.0, data);
    }
}
