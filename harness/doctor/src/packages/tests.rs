//! Packages as their metadata tells of them. Knows files of distributions.

use super::*;

#[test]
fn requirements_are_met_or_not_or_not_understood() {
    for (requirement, installed, met) in [
        ("nvidia-cudnn-cu13==9.19.0.56", "9.19.0.56", Some(true)),
        ("nvidia-cudnn-cu13==9.19.0.56", "9.20.0.48", Some(false)),
        ("nvidia-cudnn-cu12<10.0,>=9.8", "9.10.2.21", Some(true)),
        ("nvidia-cudnn-cu12 (>=9.8)", "9.1.0.70", Some(false)),
        ("nvidia-cudnn-cu12~=9.1", "9.19.0.56", Some(true)),
        ("nvidia-cudnn-cu12==9.*", "8.9.2.26", Some(false)),
        ("nvidia-cudnn-cu12!=9.10.*", "9.10.2.21", Some(false)),
        ("nvidia-cudnn-cu12", "9.1", None),
        ("nvidia-cudnn-cu12 @ file:///x=y", "9.1", None),
    ] {
        assert_eq!(meets(requirement, installed), met, "{requirement} {installed}");
    }
}

#[test]
fn pins_of_other_platforms_are_passed_over_and_those_of_extras_are_marked() {
    let about = |text: &str| pin(text).map(|pin| (pin.package, pin.requirement));
    let extra = |text: &str| pin(text).and_then(|pin| pin.extra);
    let linux = "nvidia-cudnn_cu13==9.19.0.56; platform_system == \"Linux\"";
    assert_eq!(about(linux), Some(("nvidia-cudnn-cu13".into(), "nvidia-cudnn_cu13==9.19.0.56".into())));
    assert_eq!(extra("nvidia-cudnn-cu12==9.1; extra == 'cuda'").as_deref(), Some("cuda"));
    let jax = "nvidia-cublas>=13.0.0.19; sys_platform == \"linux\" and extra == \"with-cuda\"";
    assert_eq!((extra(jax).as_deref(), extra("nvidia-cudnn-cu12==9.1")), (Some("with-cuda"), None));
    assert_eq!(about("nvidia-cudnn-cu12==9.1; platform_system == \"Windows\""), None);
    assert_eq!(about("numpy>=1"), None);
}

#[test]
fn what_a_framework_was_built_with_is_read_from_its_own_files() {
    let torch = "__version__ = '2.11.0+cu130'\ndebug = False\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n";
    assert_eq!(assigned(torch, "cuda").as_deref(), Some("13.0"));
    assert_eq!(assigned(torch, "hip"), None);
    let flow = "build_info = collections.OrderedDict([], **{\"cuda_version\": \"12.5.1\", \"cudnn_version\": \"9\"})";
    assert_eq!(assigned(flow, "cudnn_version").as_deref(), Some("9"));
}

#[test]
fn a_thousand_packages_are_passed_over_and_the_few_of_interest_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..1000 {
        std::fs::create_dir(folder.path().join(format!("p{number}-1.0.dist-info"))).expect("made");
    }
    let info = folder.path().join("torch-2.11.0.dist-info");
    std::fs::create_dir(&info).expect("made");
    let text = "Name: torch\nVersion: 2.11.0\nRequires-Dist: nvidia-cudnn-cu13==9.19.0.56; platform_system == \"Linux\"\n\nRequires-Dist: nvidia-no==1\n";
    std::fs::write(info.join("METADATA"), text).expect("written");
    let info = folder.path().join("nvidia_cudnn_cu13-9.20.0.48.dist-info");
    std::fs::create_dir(&info).expect("made");
    std::fs::write(info.join("METADATA"), "Name: nvidia-cudnn-cu13\nVersion: 9.20.0.48\n").expect("written");
    let found = read(&Source::below(folder.path()), &["/".into()]);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].cuda_major(), Some(13));
    assert_eq!(found[1].pins[0].met, Some(false), "{found:#?}");
    assert_eq!((found[1].pins.len(), found[1].cuda_major()), (1, Some(13)));
}

/// A folder of packages with those names, versions and lines of metadata.
fn site(packages: &[(&str, &str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, version, more) in packages {
        let info = folder.path().join(format!("{}-{version}.dist-info", name.replace('-', "_")));
        std::fs::create_dir(&info).expect("made");
        let text = format!("Name: {name}\nVersion: {version}\n{more}\n");
        std::fs::write(info.join("METADATA"), text).expect("written");
    }
    folder
}

#[test]
fn frameworks_tell_their_cuda_by_name_and_version_and_pin_through_extras_or_the_table() {
    // The lines are those of the published wheels' metadata.
    let jax = "Requires-Dist: nvidia-cudnn-cu13<10.0,>=9.12.0.46; sys_platform == \"linux\" and extra == \"with-cuda\"";
    let folder = site(&[
        ("jax-cuda13-plugin", "0.10.2", jax),
        ("cupy-cuda12x", "14.2.0", ""),
        ("onnxruntime-gpu", "1.31.1", ""),
        ("torch", "2.99.0+cu130", ""),
        ("nvidia-cudnn-cu13", "9.10.2.21", ""),
        ("jaxtyping", "0.3.0", ""),
        ("ninja", "1.11", ""),
    ]);
    let found = read(&Source::below(folder.path()), &["/".into()]);
    let package = |name: &str| found.iter().find(|package| package.name == name).expect("listed");
    let majors = ["jax-cuda13-plugin", "cupy-cuda12x", "onnxruntime-gpu", "torch"];
    let majors = majors.map(|name| package(name).cuda_major());
    assert_eq!(majors, [Some(13), Some(12), Some(13), Some(13)]);
    let pin = &package("jax-cuda13-plugin").pins[0];
    assert_eq!((pin.met, pin.extra.as_deref(), pin.source), (Some(false), Some("with-cuda"), None));
    let pin = package("onnxruntime-gpu")
        .pins
        .iter()
        .find(|pin| pin.package.contains("cudnn"))
        .expect("of the table");
    assert_eq!((pin.met, pin.source), (Some(true), Some("metadata of the wheel onnxruntime-gpu 1.31.1")));
    let told = found.iter().filter(|package| package.is_told()).map(|package| package.name.as_str());
    let expected = ["cupy-cuda12x", "jax-cuda13-plugin", "nvidia-cudnn-cu13", "onnxruntime-gpu", "torch"];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}
