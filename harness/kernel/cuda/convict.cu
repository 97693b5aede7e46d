// The kernels of convict. Knows numbers and strided memory; knows nothing of cuDNN, of cases, or of verdicts.
//
// No header from outside is included, so NVRTC needs none. `build_ptx.py` compiles this to `convict.ptx`;
// `host.cpp` compiles it as plain C++ for the tests. Every kernel takes one struct by value and computes the
// same bits as its Rust twin: no fused multiply-add, a fixed order of summation, totals merged only by add,
// min and max. All loops are grid-stride loops: any grid of 256-thread blocks is correct.

#include "compare.cuh"
#include "elementwise.cuh"
#include "fill.cuh"
#include "guard.cuh"
#include "reference.cuh"
