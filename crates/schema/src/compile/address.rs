//! Resolves the names of schemas and documents.

/// Resolves `reference` against `base`. Supports the references that schemas use: absolute addresses, paths and file names.
pub(crate) fn absolute(base: &str, reference: &str) -> String {
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let path = base.find("://").map_or(0, |scheme| {
        base[scheme + 3..].find('/').map_or(base.len(), |authority| scheme + 3 + authority)
    });
    if reference.starts_with('/') {
        return format!("{}{}", &base[..path], without_dots(reference));
    }
    let folder = base[path..].rfind('/').map_or(path, |i| path + i + 1);
    let (authority, folder) = base[..folder].split_at(path.min(folder));
    format!("{authority}{}", without_dots(&format!("{folder}{reference}")))
}

/// Removes `.` and `..` from a path as RFC 3986, 5.2.4 does. A `..` that leads above a relative path stays.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let last = path.split('/').count() - 1;
    for (i, part) in path.split('/').enumerate() {
        match part {
            "." | ".." if part == "." || kept.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                if part == ".." {
                    kept.pop();
                }
                if i == last {
                    kept.push("");
                }
            }
            ".." if kept == [""] => {}
            _ => kept.push(part),
        }
    }
    kept.join("/")
}

/// Whether the reference is an absolute address.
pub(crate) fn has_scheme(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

#[cfg(test)]
mod tests {
    use super::absolute;

    #[test]
    fn references_are_seen_from_their_base() {
        for (base, reference, expected) in [
            ("https://a.example/x/y.json", "z.json", "https://a.example/x/z.json"),
            ("https://a.example/x/y.json", "./z.json", "https://a.example/x/z.json"),
            ("https://a.example/x/", "z", "https://a.example/x/z"),
            ("https://a.example/x/y/", "../z/./v.json", "https://a.example/x/z/v.json"),
            ("https://a.example/x/y.json", "../../z", "https://a.example/z"),
            ("https://a.example/x/y.json", "..", "https://a.example/"),
            ("https://a.example/x/y.json", "/p/../z", "https://a.example/z"),
            ("x/y.json", "../../z.json", "../z.json"),
            ("https://a.example/x/y.json", "/z", "https://a.example/z"),
            ("https://a.example/x/y.json", "http://b.example/z", "http://b.example/z"),
            ("https://a.example/x/y.json", "urn:dunnage:z", "urn:dunnage:z"),
            ("y.json", "z.json", "z.json"),
            ("", "z.json", "z.json"),
        ] {
            assert_eq!(absolute(base, reference), expected, "{base} {reference}");
        }
    }
}
