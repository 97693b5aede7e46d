# ---- Values: the same as in the run that found the bug ----------------------------------------------------

MASK = (1 << 64) - 1


def signed(value):
    """The 64-bit integer with those bits, as PyTorch holds it."""
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def shifted(bits, count):
    """Bits moved to the right with zeros from the left; PyTorch itself repeats the sign."""
    return (bits >> count) & ((1 << (64 - count)) - 1)


def mix(bits):
    if isinstance(bits, int):
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & MASK
        return bits ^ (bits >> 31)
    bits = (bits ^ shifted(bits, 30)) * signed(0xBF58476D1CE4E5B9)
    bits = (bits ^ shifted(bits, 27)) * signed(0x94D049BB133111EB)
    return bits ^ shifted(bits, 31)


def spread(dim):
    """The coordinates of every element in five dimensions: the outer two stay in front, axes move to the end."""
    five = list(dim[:2]) + [1] * (5 - len(dim)) + list(dim[2:])
    places = []
    for axis, extent in enumerate(five):
        shape = [1] * 5
        shape[axis] = extent
        places.append(torch.arange(extent, dtype=torch.int64).reshape(shape))
    return five, places


def int2(bits):
    return torch.tensor([-2.0, -1.0, 1.0, 2.0], dtype=torch.float64)[shifted(bits, 62)]


def ramp(linear):
    return (linear % 257 - 128).double()


def values(fill, seed, number, probe, dim):
    """A tensor of doubles by the formula of the fill; number is 0 for x, 1 for w, 2 for y."""
    five, at = spread(dim)
    count = 1
    for extent in five:
        count *= extent
    bits = torch.tensor(signed(mix((seed ^ (0x9E3779B97F4A7C15 * (number + 1))) & MASK)))
    for place in at:
        bits = mix(bits ^ (place * signed(0xD1342543DE82EF95)))
    bits = bits.expand(five)
    linear = torch.arange(count, dtype=torch.int64).reshape(five)
    one_place = linear == mix(seed & MASK) % count
    if fill == "zero":
        made = torch.zeros(five, dtype=torch.float64)
    elif fill == "one":
        made = torch.ones(five, dtype=torch.float64)
    elif fill == "int1":
        made = torch.where(bits < 0, 1.0, -1.0).double()
    elif fill == "tern":
        made = (shifted(shifted(bits, 32) * 3, 32) - 1).double()
    elif fill == "real":
        made = shifted(bits, 40).double() / 8388608 - 1
    elif fill == "index":
        made = ((31 * at[0] + 17 * at[1] + 11 * at[2] + 7 * at[3] + 3 * at[4]) % 61 - 30).double().expand(five)
    elif fill == "onehot":
        made = one_place.double() if probe else ramp(linear)
    elif fill == "ramp":
        made = ramp(linear) if probe else int2(bits)
    elif fill == "sparse":
        made = torch.where((bits & 7) != 0, 0.0, int2(bits)).double() if probe else int2(bits)
    else:
        made = int2(bits)
    return made.reshape(list(dim))


def filled(name):
    """One input, rounded to its type, on the CPU."""
    number = "xwy".index(name)
    probe = name == ("y" if OPERATION == "dgrad" else "x")
    return values(FILL, SEED, number, probe, DIM[name]).to(DTYPE[name])


# ---- Reference: the convolution on the CPU in double ------------------------------------------------------


def reference(x, w, y):
    """The right output from doubles; the tensor that the pass writes is not looked at."""
    axes = len(STRIDE)
    around = [pad for pair in reversed(list(zip(PAD_BEFORE, PAD_AFTER))) for pad in pair]
    if OPERATION != "dgrad":
        x = torch.nn.functional.pad(x, around)
    if OPERATION == "fprop":
        convolve = getattr(torch.nn.functional, f"conv{axes}d")
        return convolve(x, w, None, STRIDE, 0, DILATION, GROUPS)
    if OPERATION == "wgrad":
        gradient = getattr(torch.nn.grad, f"conv{axes}d_weight")
        return gradient(x, DIM["w"], y, STRIDE, 0, DILATION, GROUPS)
    gradient = getattr(torch.nn.grad, f"conv{axes}d_input")
    padded = [extent + before + after for extent, before, after in zip(DIM["x"][2:], PAD_BEFORE, PAD_AFTER)]
    whole = gradient(DIM["x"][:2] + padded, w, y, STRIDE, 0, DILATION, GROUPS)
    inner = tuple(slice(before, before + extent) for before, extent in zip(PAD_BEFORE, DIM["x"][2:]))
    return whole[(slice(None), slice(None)) + inner]


def expected(inputs):
    """The right output and what each element may be off by, both doubles."""
    parts = [inputs[name].double() if name in inputs else None for name in "xwy"]
    right = reference(*parts)
    if not any(BOUND):
        return right.to(DTYPE[OUTPUT]).double(), torch.zeros_like(right)
    absolute = reference(*(part.abs() if part is not None else None for part in parts))
    return right, BOUND[0] * absolute + BOUND[1] * right.abs() + BOUND[2]


def wrong(got, right, bound):
    """Elements that are off by more than they may be; NaN counts, the same infinity does not."""
    same = got == right.to(DTYPE[OUTPUT]).double()
    return ~(same | ((got - right).abs() <= bound))


def same_bits(one, other):
    return torch.equal(*(tensor.cpu().contiguous().view(torch.uint8) for tensor in (one, other)))


def show(got, right, bad):
    places = bad.nonzero().tolist()
    for place in places[:8]:
        print(f"  at {place}: got {got[tuple(place)].item()!r}, expected {right[tuple(place)].item()!r}")
    print(f"  {len(places)} of {bad.numel()} outputs are wrong")
