//! Lists that recreate the library set: wheels by version, files by hash, a container, a conda environment. Knows how
//! NVIDIA names its wheels; downloads nothing.

use std::fmt::Write;

use case::{Environment, LibraryConfiguration, MappedFile};

use crate::escape::for_program;
use crate::finding::Finding;
use crate::title::title;

/// Image that the container starts from where none is known.
const BASE: &str = "python:3.12-bookworm";

/// Folder that wheels are unpacked into within the container.
const LIBRARIES: &str = "/opt/libraries";

/// One wheel and why that version.
struct Wheel {
    name: String,
    version: String,
    because: &'static str,
}

/// The wheels as pip reads them.
pub(super) fn requirements(finding: &Finding<'_>) -> String {
    let mut text = format!(
        "# The library set of: {}\n# Pinned by version. The wheels' own hashes were not known when this was written, \
         so pip checks none;\n# after unpacking, libraries.sha256 checks every library file that was loaded.\n",
        for_program(&title(finding))
    );
    for wheel in wheels(finding) {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{}{}  # {}", wheel.name, wheel.version, wheel.because);
    }
    text.push_str(
        "# For repro_fe.py, and PyTorch built for the same CUDA for both programs (its version was not seen here):\n\
         # nvidia-cudnn-frontend==1.32.0\n# torch\n",
    );
    text
}

/// cuDNN by the version it told, its companions by what their file names tell.
fn wheels(finding: &Finding<'_>) -> Vec<Wheel> {
    let environment = finding.environment;
    let cuda = environment.cudart / 1000;
    let cudnn = match environment.configuration {
        Some(LibraryConfiguration::GraphJitOnly) => "nvidia-cudnn-jit",
        Some(LibraryConfiguration::Full) | None => "nvidia-cudnn",
    };
    let text = environment.cudnn_text();
    let (version, because) = match dispatcher_build(environment.cudnn, finding.library_log) {
        Some(build) => (format!("=={text}.{build}"), "cudnnGetVersion and the library's log"),
        None => (format!("=={text}.*"), "cudnnGetVersion; the fourth number was not seen"),
    };
    let mut wheels = vec![Wheel { name: format!("{cudnn}-cu{cuda}"), version, because }];
    for (file, wheel) in [("libcublasLt.so", "nvidia-cublas"), ("libnvrtc.so", "nvidia-cuda-nvrtc")] {
        let found = environment.files.iter().find(|mapped| mapped.name.starts_with(file));
        let Some(found) = found else { continue };
        // From CUDA 13 on the wheels' names carry no version.
        let name = if cuda >= 13 { wheel.to_owned() } else { format!("{wheel}-cu{cuda}") };
        // The library's own name tells the major alone; that of its built-in headers tells the minor too.
        let exact = environment.files.iter().find(|mapped| mapped.name.starts_with("libnvrtc-builtins.so."));
        let found = exact.filter(|_| wheel == "nvidia-cuda-nvrtc").unwrap_or(found);
        let known = !found.version.is_empty() && found.version.bytes().all(is_version);
        let version = if known { format!("=={}.*", found.version) } else { String::new() };
        wheels.push(Wheel {
            name,
            version,
            because: "the file's name; libraries.sha256 tells whether it is that one",
        });
    }
    wheels
}

fn is_version(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'.'
}

/// The fourth number of cuDNN's version, which only its log tells: `CuDNN (v91900 56)`.
pub(crate) fn dispatcher_build(cudnn: u64, library_log: &str) -> Option<u32> {
    let start = format!("CuDNN (v{cudnn} ");
    let (_, after) = library_log.split_once(&start)?;
    after.split_once(')')?.0.parse().ok()
}

/// Hashes of the files that came from wheels, relative to the folder that holds them, as `sha256sum --check` reads.
pub(super) fn library_sums(environment: &Environment) -> String {
    let lines = environment.files.iter().filter_map(|file| {
        let hash = &file.sha256;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let place = wheel_place(file)?;
        is_hash.then(|| format!("{hash}  {place}\n"))
    });
    lines.collect()
}

/// Place of a file within unpacked wheels; `None` for other files and for names that no wheel has.
pub(crate) fn wheel_place(file: &MappedFile) -> Option<String> {
    let place = file.place.strip_prefix("wheel:")?;
    let whole = if place.ends_with(&file.name) { place.to_owned() } else { format!("{place}/{}", file.name) };
    let plain = |character: char| character.is_ascii_alphanumeric() || "._+-/".contains(character);
    let inside = whole.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    (inside && whole.chars().all(plain)).then_some(whole)
}

/// A container that holds the libraries and runs the stand-alone program.
pub(super) fn dockerfile(finding: &Finding<'_>) -> String {
    let environment = finding.environment;
    let folder = match environment.configuration {
        Some(LibraryConfiguration::GraphJitOnly) => "cudnn_jit",
        Some(LibraryConfiguration::Full) | None => "cudnn",
    };
    let companions: Vec<String> = companion_folders(environment)
        .iter()
        .map(|place| format!("\"--companion\", \"{LIBRARIES}/{place}\""))
        .collect();
    let entry = [format!("\"./run.sh\", \"{LIBRARIES}/nvidia/{folder}/lib\"")].into_iter().chain(companions);
    let check = if library_sums(environment).is_empty() {
        "# No loaded library came from a wheel: there are no hashes to check, only versions.".to_owned()
    } else {
        format!("RUN cd {LIBRARIES} && sha256sum --check /bundle/libraries.sha256")
    };
    format!(
        "# Recreates the library set of: {title}\n\
         # The image that it was seen in is not known; this one has a compiler and Python. Pin it by digest:\n\
         #   docker build --build-arg BASE=NAME@sha256:... -t repro . && docker run --rm --gpus all repro\n\
         # The driver is the host's: it was {driver}.\n\
         ARG BASE={BASE}\n\
         FROM ${{BASE}}\n\
         COPY . /bundle\n\
         WORKDIR /bundle\n\
         RUN python3 -m pip install --no-deps --target {LIBRARIES} --requirement requirements.lock\n\
         {check}\n\
         ENTRYPOINT [{entry}]\n",
        title = for_program(&title(finding)),
        driver = if environment.driver.is_empty() {
            "not seen".to_owned()
        } else {
            for_program(&environment.driver)
        },
        entry = entry.collect::<Vec<_>>().join(", "),
    )
}

/// Folders of cuBLASLt and NVRTC within unpacked wheels.
fn companion_folders(environment: &Environment) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    for file in &environment.files {
        let companion = file.name.starts_with("libcublasLt") || file.name.starts_with("libnvrtc.");
        let Some(place) = wheel_place(file).filter(|_| companion) else { continue };
        let Some((folder, _)) = place.rsplit_once('/') else { continue };
        if !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_owned());
        }
    }
    folders
}

/// A conda environment with the same wheels. Packages of conda's own are other builds with other hashes.
pub(super) fn conda(finding: &Finding<'_>) -> String {
    format!(
        "# The library set of: {}\n\
         # conda env create --file environment.yml, in this folder. The same wheels as in requirements.lock:\n\
         # packages of conda's own are other builds. Only the libraries are pinned by what was seen.\n\
         name: repro\n\
         channels:\n\
         \x20 - conda-forge\n\
         \x20 - nodefaults\n\
         dependencies:\n\
         \x20 - python=3.12\n\
         \x20 - pip\n\
         \x20 - gxx\n\
         \x20 - pip:\n\
         \x20     - --requirement requirements.lock\n",
        for_program(&title(finding))
    )
}
