//! The text formats of metrics: OpenMetrics, and Prometheus' own version 0.0.4, which is converted from it.

use std::fmt::Write as _;

/// The media types of both formats.
pub const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
pub const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Whether `accept`, an `Accept` header, names OpenMetrics and does not prefer plain text. A client that names neither gets plain text,
/// which all scrapers read.
pub fn wants_openmetrics(accept: Option<&str>) -> bool {
    let quality = |wanted: &str| {
        let parts = accept.unwrap_or_default().split(',').filter_map(|part| {
            let (media, parameters) = part.split_once(';').unwrap_or((part, ""));
            let mut parameters = parameters.split(';').filter_map(|parameter| parameter.split_once('='));
            let quality = parameters.find(|(key, _)| key.trim().eq_ignore_ascii_case("q"));
            let quality = quality.map_or(Some(1.0), |(_, value)| value.trim().parse::<f32>().ok())?;
            media.trim().eq_ignore_ascii_case(wanted).then_some(quality)
        });
        parts.fold(0.0, f32::max)
    };
    let openmetrics = quality("application/openmetrics-text");
    openmetrics > 0.0 && openmetrics >= quality("text/plain")
}

/// Converts `text` to version 0.0.4: the help and type of a counter have the name of its samples, and there are neither units nor an end
/// marker.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut help = None;
    for line in text.lines() {
        // Writing to a String does not fail.
        let _ = match line.strip_prefix("# ").and_then(|rest| rest.split_once(' ')) {
            Some(("HELP", rest)) => {
                help = rest.split_once(' ');
                Ok(())
            }
            Some(("TYPE", rest)) => {
                let (name, kind) = rest.split_once(' ').unwrap_or((rest, "untyped"));
                let end = if kind == "counter" { "_total" } else { "" };
                let help = help.take().map_or("", |(_, help)| help);
                writeln!(out, "# HELP {name}{end} {help}\n# TYPE {name}{end} {kind}")
            }
            Some(("UNIT", _)) => Ok(()),
            _ if line == "# EOF" => Ok(()),
            _ => writeln!(out, "{line}"),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{plain, wants_openmetrics};

    #[test]
    fn who_names_openmetrics_gets_it() {
        for (accept, wanted) in [
            (None, false),
            (Some("*/*"), false),
            (Some("text/plain"), false),
            (Some("application/openmetrics-text"), true),
            (
                Some(
                    "Application/OpenMetrics-Text; version=1.0.0; q=0.5, text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
                ),
                true,
            ),
            (Some("application/openmetrics-text;q=0.2, text/plain;version=0.0.4;q=0.5"), false),
            (Some("application/openmetrics-text;q=0"), false),
            (Some("application/openmetrics-text;q=x"), false),
        ] {
            assert_eq!(wants_openmetrics(accept), wanted, "{accept:?}");
        }
    }

    #[test]
    fn help_and_type_of_a_counter_have_the_name_of_its_samples() {
        let open = "# HELP a Of it.\n# TYPE a counter\n# UNIT a seconds\na_total{b=\"c\"} 1\n# HELP g Now.\n# TYPE g gauge\ng 2\n# EOF\n";
        let wanted = "# HELP a_total Of it.\n# TYPE a_total counter\na_total{b=\"c\"} 1\n# HELP g Now.\n# TYPE g gauge\ng 2\n";
        assert_eq!(plain(open), wanted);
    }
}
