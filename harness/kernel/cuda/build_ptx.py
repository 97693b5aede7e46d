#!/usr/bin/env python3
"""Compiles convict.cu to convict.ptx with the pinned NVRTC 12.0. Knows PyPI and NVRTC; knows no GPU.

Without arguments it writes convict.ptx; with --check it exits 1 where the committed file is not, byte for
byte, what the compiler makes of the committed source. NVIDIA's wheel is fetched into a temporary folder (or read
from --wheels DIR) and never kept in the repository. NVRTC 12.0 emits PTX 8.0, which a 525 driver still loads.
"""

import argparse
import ctypes
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENT = "nvidia-cuda-nvrtc-cu12==12.0.140"
WHEEL = "nvidia_cuda_nvrtc_cu12-12.0.140-py3-none-manylinux1_x86_64.whl"
WHEEL_SHA256 = "8e94e991d85c422de4da87bdc7472fdc1364367bd4aace7000b559cd33122071"
LIBRARIES = ("libnvrtc-builtins.so.12.0", "libnvrtc.so.12")  # in loading order
OPTIONS = (b"--gpu-architecture=compute_70", b"--fmad=false", b"--std=c++14")


def download(folder):
    """Puts the wheel into a folder, without dependencies and for the one platform it is pinned for."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
               "--platform=manylinux1_x86_64", "--dest", str(folder), REQUIREMENT]
    subprocess.run(command, check=True)


def load_nvrtc(wheel, folder):
    """Checks the wheel's hash, unpacks the two libraries into a folder and loads them."""
    actual = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if actual != WHEEL_SHA256:
        sys.exit(f"{wheel.name}: sha256 is {actual}, not {WHEEL_SHA256}")
    with zipfile.ZipFile(wheel) as archive:
        for name in LIBRARIES:
            member = f"nvidia/cuda_nvrtc/lib/{name}"
            (folder / name).write_bytes(archive.read(member))
    return [ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL) for name in LIBRARIES][-1]


def text_of(nvrtc, program, what):
    """Fetches the program's log or PTX: nvrtcGet<what>Size, then nvrtcGet<what>."""
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value


def compile_ptx(nvrtc):
    """Compiles the committed source, with its own headers handed over in memory."""
    headers = sorted(HERE.glob("*.cuh"))
    sources = (ctypes.c_char_p * len(headers))(*(header.read_bytes() for header in headers))
    names = (ctypes.c_char_p * len(headers))(*(header.name.encode() for header in headers))
    options = (ctypes.c_char_p * len(OPTIONS))(*OPTIONS)
    program = ctypes.c_void_p()
    source = (HERE / "convict.cu").read_bytes()
    status = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source, b"convict.cu", len(headers), sources, names)
    status = status or nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options)
    log = text_of(nvrtc, program, "ProgramLog").decode().strip()
    if status:
        sys.exit(f"NVRTC status {status}\n{log}")
    if log:
        print(log, file=sys.stderr)
    return text_of(nvrtc, program, "PTX")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the committed file, write nothing")
    parser.add_argument("--wheels", type=pathlib.Path, help="folder that holds the wheel already")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if arguments.wheels is None:
            download(folder)
        ptx = compile_ptx(load_nvrtc((arguments.wheels or folder) / WHEEL, folder))
    committed = HERE / "convict.ptx"
    if not arguments.check:
        committed.write_bytes(ptx)
    elif committed.read_bytes() != ptx:
        sys.exit("convict.ptx is not what NVRTC makes of convict.cu; run build_ptx.py and commit the result")


if __name__ == "__main__":
    main()
