"""Runs inside a foreign Python: tells where it looks, has it open cuDNN as its programs would, and writes which files it
then maps, one JSON object a line into the file of its first argument. Judges nothing; every step may fail alone."""

import ctypes
import glob
import json
import os
import re
import sys
import sysconfig

ANSWER, MODE = sys.argv[1], sys.argv[2]
INTEREST = re.compile(r"/lib(cudnn|cublas|cudart|nvrtc|nvJitLink|cuda\.so|nvidia-ptxjitcompiler)")

# Kinds of descriptors of cudnnBackendDescriptorType_t, and the strides of a channels-last 2x8x8x8.
CONVOLUTION, FORWARD, GRAPH, TENSOR = 1, 10, 15, 17
CUBE = (512, 1, 64, 8)


def tell(step, **facts):
    """Appended and closed at once: what comes after may end the process."""
    with open(ANSWER, "a", encoding="utf-8", errors="surrogateescape") as answer:
        answer.write(json.dumps({"step": step, **facts}, ensure_ascii=False) + "\n")


def attempt(step, action):
    try:
        facts = action() or {}
        tell(step, done=True, **facts)
        return facts
    except BaseException as trouble:
        tell(step, done=False, why=f"{type(trouble).__name__}: {trouble}"[:400])
        return {}


def maps():
    """The lines of this process's memory map that name a library of interest."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as text:
        return [line.rstrip("\n") for line in text if INTEREST.search(line)]


def places():
    folders = [folder for folder in dict.fromkeys(sys.path) if folder and os.path.isdir(folder)]
    return {
        "executable": sys.executable,
        "version": sys.version.replace("\n", " "),
        "prefix": sys.prefix,
        "purelib": sysconfig.get_path("purelib"),
        "folders": folders[:256],
    }


def has_torch():
    """Whether PyTorch is installed; it is not imported for that."""
    return any(os.path.isfile(os.path.join(folder, "torch", "__init__.py")) for folder in sys.path)


def import_torch():
    import torch

    facts = {"torch": torch.__version__, "cuda": str(torch.version.cuda), "file": torch.__file__}
    tell("imported", **facts)
    version = torch.backends.cudnn.version()
    return {**facts, "cudnn": version if isinstance(version, int) else 0}


def frontend_choice():
    """cudnn-frontend's own order (its _dlopen_cudnn of 1.32.0): LD_LIBRARY_PATH, site-packages, then the soname."""
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)):
        for name in ("libcudnn.so.9", "libcudnn.so"):
            if os.path.exists(os.path.join(folder, name)):
                return os.path.join(folder, name), "LD_LIBRARY_PATH"
    for part in ("nvidia/cudnn/lib", "nvidia/cudnn_jit/lib"):
        for folder in (sysconfig.get_path("purelib"), *sys.path):
            found = sorted(glob.glob(os.path.join(folder, part, "libcudnn.so.*[0-9]")))
            if found:
                return found[0], f"site-packages {part}"
    return None, "soname"


def open_cudnn():
    path, by = frontend_choice()
    if path:
        ctypes.CDLL(path)
        return {"path": os.path.realpath(path), "by": by}
    trouble = None
    for name in ("libcudnn.so.9", "libcudnn.so", "libcudnn.so.8"):
        try:
            ctypes.CDLL(name)
            return {"path": name, "by": by}
        except OSError as error:
            trouble = trouble or error
    raise trouble


def shim():
    """The library that is mapped, whoever opened it."""
    for line in maps():
        path = line[line.index("/"):]
        if re.search(r"/libcudnn\.so\.\d", path):
            return ctypes.CDLL(path)
    raise OSError("no libcudnn is mapped")


def load_parts():
    library = shim()
    library.cudnnGetVersion.restype = ctypes.c_size_t
    statuses = {}
    for part in ("Graph", "Ops", "Cnn", "Adv"):
        check = getattr(library, f"cudnn{part}VersionCheck", None)
        if check is not None:
            statuses[part.lower()] = check()
    return {"cudnn": library.cudnnGetVersion(), "checks": statuses}


def load_engines():
    """Asks how many engines one small convolution has, which needs no device and maps every engine library."""
    library = shim()

    def descriptor(kind, *attributes):
        made = ctypes.c_void_p()
        if library.cudnnBackendCreateDescriptor(kind, ctypes.byref(made)):
            raise OSError(f"descriptor {kind} can't be made")
        for name, type_, values in attributes:
            library.cudnnBackendSetAttribute(made, name, type_, ctypes.c_int64(len(values)), values)
        status = library.cudnnBackendFinalize(made)
        if status:
            raise OSError(f"descriptor {kind} is refused with status {status}")
        return made

    def longs(*values):
        return (ctypes.c_int64 * len(values))(*values)

    def ints(*values):
        return (ctypes.c_int * len(values))(*values)

    def pointers(*made):
        return (ctypes.c_void_p * len(made))(*made)

    def tensor(name, extents, strides):
        return descriptor(TENSOR, (901, 1, ints(0)), (902, 3, longs(*extents)), (903, 3, longs(*strides)),
                          (906, 3, longs(name)), (900, 3, longs(16)))

    x, w, y = tensor(1, (2, 8, 8, 8), CUBE), tensor(2, (8, 8, 1, 1), (8, 1, 1, 1)), tensor(3, (2, 8, 8, 8), CUBE)
    axes = [(name, 3, longs(*values)) for name, values in ((102, (1, 1)), (103, (1, 1)), (104, (0, 0)), (105, (0, 0)))]
    convolution = descriptor(CONVOLUTION, (100, 1, ints(0)), (101, 7, ints(1)), *axes, (106, 3, longs(2)))
    scales = [(700, 4, (ctypes.c_float * 1)(1.0)), (701, 4, (ctypes.c_float * 1)(0.0))]
    operation = descriptor(FORWARD, *scales, (702, 15, pointers(convolution)), (703, 15, pointers(w)),
                           (704, 15, pointers(x)), (705, 15, pointers(y)))
    graph = descriptor(GRAPH, (801, 15, pointers(operation)))
    engines, count = longs(0), ctypes.c_int64()
    status = library.cudnnBackendGetAttribute(graph, 802, 3, ctypes.c_int64(1), ctypes.byref(count), engines)
    if status:
        raise OSError(f"the number of engines is refused with status {status}")
    return {"engines": engines[0]}


def main():
    tell("places", **places())
    if MODE == "places":
        return
    if has_torch():
        attempt("import", import_torch)
    if not any("libcudnn.so" in line for line in maps()):
        attempt("open", open_cudnn)
    tell("opened", maps=maps())
    attempt("parts", load_parts)
    tell("loaded", maps=maps())
    attempt("engines", load_engines)
    tell("maps", maps=maps())


main()
