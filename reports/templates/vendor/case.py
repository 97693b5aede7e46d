OPERATION = {{ operation }}
OUTPUT = {{ output }}  # the tensor that the pass writes
DIM = {{ dim }}
STRIDES = {{ strides }}  # elements
DTYPE = {{ dtype }}
PAD_BEFORE, PAD_AFTER = {{ pad_before }}, {{ pad_after }}
STRIDE, DILATION, GROUPS = {{ stride }}, {{ dilation }}, {{ groups }}
FILL, SEED = {{ fill }}, {{ seed }}
# An output may be off by BOUND[0] * sum of absolute products + BOUND[1] * |output| + BOUND[2]; all 0: not at all.
BOUND = {{ bound }}
KIND = {{ kind }}  # what was seen
EXECUTIONS = {{ executions }}
