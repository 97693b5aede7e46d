// Not expressible: guards are written for convolutions only, and the case is matmul.
