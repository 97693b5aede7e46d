//! The place of a file as a class that names no home. Knows customs of file systems; reads none.

use std::path::Path;

/// A path as a class that names no home: `wheel:REL`, `toolkit:REL`, `system:PATH` or `dir:NAME`.
#[must_use]
pub fn place_of(path: &Path) -> String {
    let text = path.to_string_lossy();
    for root in ["/site-packages/", "/dist-packages/"] {
        if let Some((_, rest)) = text.split_once(root) {
            return format!("wheel:{rest}");
        }
    }
    if let Some(rest) = text.strip_prefix("/usr/local/") {
        let class = if rest.starts_with("cuda") { "toolkit" } else { "system" };
        return if class == "toolkit" { format!("toolkit:{rest}") } else { format!("system:{text}") };
    }
    if ["/usr/", "/lib/", "/lib64/", "/etc/", "/proc/", "/sys/", "/var/lib/dpkg"]
        .iter()
        .any(|root| text.starts_with(root))
    {
        return format!("system:{text}");
    }
    format!("dir:{}", path.file_name().and_then(|name| name.to_str()).unwrap_or("?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_name_no_home() {
        let place = |path: &str| place_of(Path::new(path));
        let wheel = "/home/ann/venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9";
        assert_eq!(place(wheel), "wheel:nvidia/cudnn/lib/libcudnn.so.9");
        assert_eq!(
            place("/usr/local/cuda-13.0/lib64/libnvrtc.so.13"),
            "toolkit:cuda-13.0/lib64/libnvrtc.so.13"
        );
        let system = "/usr/lib/x86_64-linux-gnu/libcudnn.so.9.14.0";
        assert_eq!(place(system), format!("system:{system}"));
        assert_eq!(place("/home/ann/sets/9.27/libcudnn.so.9"), "dir:libcudnn.so.9");
    }
}
