//! Recipes read back as those who follow them read them, also of a bundle that means harm.

use case::Kind;
use dockerfile_parser::{Dockerfile, Instruction};
use yaml_rust2::YamlLoader;

use super::*;
use crate::sample::Sample;

fn pinned(package: &str, version: &str, libraries: &str, is_needed: bool) -> Pinned {
    Pinned {
        package: package.to_owned(),
        version: version.to_owned(),
        file: format!("{}-{version}-py3-none-manylinux_2_27_x86_64.whl", package.replace('-', "_")),
        bytes: 17_284_374,
        sha256: "0123456789abcdef".repeat(4),
        libraries: libraries.to_owned(),
        is_needed,
    }
}

fn recipe() -> Recipe<'static> {
    Recipe {
        set: "9.19.0-full".to_owned(),
        cuda: 13,
        oldest_driver: Some("580"),
        wheels: vec![
            pinned("nvidia-cudnn-cu13", "9.19.0.56", "nvidia/cudnn/lib", true),
            pinned("nvidia-cublas", "13.1.2.11", "nvidia/cu13/lib", true),
            pinned("nvidia-cuda-nvrtc", "13.0.88", "nvidia/cu13/lib", false),
        ],
        notes: vec!["something is not certain".to_owned()],
        bundle: None,
        tool_version: "0.1.0",
    }
}

const CUDNN: &str = "nvidia-cudnn-cu13==9.19.0.56";

/// A bundle as it is read back, and its folder.
fn bundle(spoil: impl FnOnce(&mut Sample)) -> (tempfile::TempDir, Bundle) {
    let mut sample =
        Sample::new(Kind::Wrong, "fprop f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1 engine=25 fill=int2:1");
    spoil(&mut sample);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("bundle");
    crate::write(&place, &sample.finding()).unwrap();
    let bundle = crate::read(&place).unwrap();
    (folder, bundle)
}

/// Every instruction of a Dockerfile by its kind, and the text of each command.
fn instructions(text: &str) -> (Vec<&'static str>, Vec<String>) {
    let file = Dockerfile::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut commands = Vec::new();
    let name = |instruction: &Instruction| match instruction {
        Instruction::From(from) => {
            commands.push(from.image.content.clone());
            "FROM"
        }
        Instruction::Arg(_) => "ARG",
        Instruction::Run(run) => {
            commands.push(run.as_shell().map(ToString::to_string).unwrap_or_default());
            "RUN"
        }
        Instruction::Cmd(_) => "CMD",
        Instruction::Env(env) => {
            commands.extend(env.vars.iter().map(|var| format!("{}={}", var.key.content, var.value)));
            "ENV"
        }
        Instruction::Misc(misc) => {
            assert_eq!(misc.instruction.content, "WORKDIR");
            "WORKDIR"
        }
        other @ (Instruction::Label(_) | Instruction::Entrypoint(_) | Instruction::Copy(_)) => {
            panic!("{other:?}")
        }
    };
    let names = file.instructions.iter().map(name).collect();
    (names, commands)
}

#[test]
fn a_dockerfile_installs_what_is_needed_by_hash_and_points_the_loader_at_it() {
    let text = recipe().render(Form::Docker).unwrap();
    let (names, commands) = instructions(&text);
    assert_eq!(names, ["ARG", "FROM", "RUN", "RUN", "ENV", "ENV", "CMD"], "{text}");
    let [_, list, install, ..] = commands.as_slice() else { panic!("{commands:?}") };
    assert!(list.contains(&format!("'{CUDNN} --hash=sha256:{}'", recipe().wheels[0].sha256)), "{list}");
    assert!(list.contains("'nvidia-cublas==13.1.2.11 ") && !list.contains("nvrtc"), "{list}");
    assert!(install.contains("--require-hashes") && install.contains("--no-deps"), "{install}");
    let path = "LD_LIBRARY_PATH=/opt/libraries/nvidia/cudnn/lib:/opt/libraries/nvidia/cu13/lib";
    assert!(commands.iter().any(|command| command == path), "{commands:?}");
}

#[test]
fn a_conda_environment_is_yaml_with_everything_that_pip_will_resolve() {
    let text = recipe().render(Form::Conda).unwrap();
    let documents = YamlLoader::load_from_str(&text).unwrap();
    let [document] = documents.as_slice() else { panic!("{documents:?}") };
    assert_eq!(document["name"].as_str(), Some("cudnn"));
    let pip: Vec<&str> = document["dependencies"][2]["pip"]
        .as_vec()
        .unwrap()
        .iter()
        .filter_map(|line| line.as_str())
        .collect();
    assert_eq!(pip.len(), 3);
    assert_eq!(pip[0], format!("{CUDNN} --hash=sha256:{}", recipe().wheels[0].sha256));
    assert!(pip[2].starts_with("nvidia-cuda-nvrtc==13.0.88 --hash=sha256:"), "{pip:?}");
}

/// Requirements as pip reads them: comments gone, continued lines joined.
fn requirements(text: &str) -> Vec<String> {
    let plain: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    plain
        .join("\n")
        .replace("\\\n", " ")
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn requirements_are_pinned_by_version_and_hash() {
    let lines = requirements(&recipe().render(Form::Pip).unwrap());
    let hash = &recipe().wheels[0].sha256;
    let expected = [
        "--require-hashes".to_owned(),
        "--only-binary :all:".to_owned(),
        format!("{CUDNN} --hash=sha256:{hash}"),
        format!("nvidia-cublas==13.1.2.11 --hash=sha256:{hash}"),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_bundle_s_recipe_checks_the_files_that_were_loaded_and_tells_them() {
    let (_folder, bundle) = bundle(|sample| {
        sample.environment.files[0].place = "wheel:nvidia/cudnn/lib/libcudnn.so.9".to_owned()
    });
    assert_eq!(bundle.cudnn_version(), "9.19.0.56");
    let of_bundle = Recipe { bundle: Some(&bundle), ..recipe() };
    let (names, commands) = instructions(&of_bundle.render(Form::Docker).unwrap());
    assert_eq!(names, ["ARG", "FROM", "RUN", "RUN", "WORKDIR", "RUN", "ENV", "ENV", "CMD"]);
    let check = commands.iter().find(|command| command.contains("sha256sum")).expect("a check");
    assert!(check.contains(&format!("'{}  nvidia/cudnn/lib/libcudnn.so.9'", "a".repeat(64))), "{check}");
    let text = of_bundle.render(Form::Text).unwrap();
    for part in [
        "library set   cuDNN 9.19.0-full, for CUDA 13\n",
        "wheel         nvidia-cudnn-cu13 9.19.0.56\n",
        "asked for     nvidia-cuda-nvrtc 13.0.88\n",
        "install       python3 -m pip install --no-deps nvidia-cudnn-cu13==9.19.0.56 nvidia-cublas==13.1.2.11\n",
        "case          fprop f16 nhwc n2 c16 k32 i14x14 f3x3 p1x1 engine=25 fill=int2:1\n",
        "file          wheel:nvidia/cudnn/lib/libcudnn.so.9\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn nothing_in_a_bundle_becomes_an_instruction() {
    let bad =
        "x'; rm -rf / #\nRUN evil $(id) `id` \\\n- \"evil\": 1\n--index-url http://evil\u{1b}[2J\u{202e}";
    let (_folder, bundle) = bundle(|sample| {
        let environment = &mut sample.environment;
        (environment.gpu, environment.driver, environment.found) = (bad.into(), bad.into(), bad.into());
        environment.conflict = bad.to_owned();
        let file = &mut environment.files[0];
        (file.name, file.version, file.place) =
            (format!("libcudnn{bad}"), bad.into(), format!("wheel:{bad}"));
    });
    let hostile = Recipe { bundle: Some(&bundle), notes: vec![bad.to_owned()], ..recipe() };
    let docker = hostile.render(Form::Docker).unwrap();
    let (names, commands) = instructions(&docker);
    assert_eq!(names, ["ARG", "FROM", "RUN", "RUN", "ENV", "ENV", "CMD"], "{docker}");
    assert!(commands.iter().all(|command| !command.contains("evil") && !command.contains("rm -rf")));
    assert_eq!(requirements(&hostile.render(Form::Pip).unwrap()).len(), 4);
    let conda = YamlLoader::load_from_str(&hostile.render(Form::Conda).unwrap()).unwrap();
    assert_eq!(conda, YamlLoader::load_from_str(&recipe().render(Form::Conda).unwrap()).unwrap());
    let text = hostile.render(Form::Text).unwrap();
    let known = [
        "library set",
        "needs",
        "wheel",
        "asked for",
        "install",
        "note",
        "failure",
        "case",
        "GPU",
        "driver",
        "CUDA runtime",
        "found",
        "MIXED",
        "file",
        "written by",
        "   ",
    ];
    for line in text.lines() {
        assert!(known.iter().any(|name| line.starts_with(name)), "{line}");
        assert!(!line.contains(case::is_wild), "{line}");
    }
}

#[test]
fn a_value_of_megabytes_is_cut_in_the_text_and_leaves_the_other_forms_short() {
    let (_folder, bundle) = bundle(|sample| sample.environment.gpu = "\u{e9}".repeat(2_000_000));
    let huge = Recipe { bundle: Some(&bundle), ..recipe() };
    for form in [Form::Docker, Form::Conda, Form::Pip, Form::Text] {
        let text = huge.render(form).unwrap();
        assert!(text.len() < 20_000, "{form:?}: {} bytes", text.len());
    }
}

#[test]
fn a_wheel_that_could_mean_something_else_is_refused_in_every_form() {
    let spoilt: [fn(&mut Pinned); 6] = [
        |wheel| wheel.package = "nvidia; rm".to_owned(),
        |wheel| wheel.package = "--index-url".to_owned(),
        |wheel| wheel.version = "9.19\nRUN id".to_owned(),
        |wheel| wheel.sha256 = "a".repeat(63) + "'",
        |wheel| wheel.libraries = "../../etc".to_owned(),
        |wheel| wheel.file = String::new(),
    ];
    for spoil in spoilt {
        let mut recipe = recipe();
        spoil(&mut recipe.wheels[1]);
        for form in [Form::Docker, Form::Conda, Form::Pip, Form::Text] {
            let error = recipe.render(form).unwrap_err();
            assert!(matches!(error, RecipeError::Value(_)) && !error.to_string().contains('\n'), "{error}");
        }
    }
    let unpublished = Recipe { wheels: Vec::new(), ..recipe() };
    assert!(unpublished.render(Form::Text).is_ok());
    for form in [Form::Docker, Form::Conda, Form::Pip] {
        assert!(unpublished.render(form).unwrap_err().to_string().contains("9.19.0-full"));
    }
}
