//! Query strings. An unknown parameter is rejected: if it were ignored, `?schma=soil` would store a message without validation, and nobody
//! would notice.

use dunnage_base::nearest;
use dunnage_ingest::{Code, Rejected};

/// Names and values of the parameters, in their order.
pub type Given = Vec<(&'static str, String)>;

/// Parses `query`. Rejects parameters that are not among `known`, and repeated ones.
pub fn read(query: Option<&str>, known: &[&'static str]) -> Result<Given, Rejected> {
    let Some(query) = query else { return Ok(Vec::new()) };
    let given: Vec<(String, String)> =
        serde_urlencoded::from_str(query).map_err(|e| bad_query(format!("the query cannot be read: {e}")))?;
    let mut parameters = Given::new();
    for (name, value) in given {
        let Some(name) = known.iter().find(|known| **known == name) else {
            return Err(unknown(&name, known));
        };
        if parameters.iter().any(|(other, _)| other == name) {
            return Err(bad_query(format!("the parameter {name} is given twice")));
        }
        parameters.push((name, value));
    }
    Ok(parameters)
}

/// Rejects an invalid query.
pub fn bad_query(detail: impl Into<String>) -> Rejected {
    Rejected::new(Code::Query, detail)
}

/// Rejects a parameter `name` that is not among `known`.
pub fn unknown(name: &str, known: &[&str]) -> Rejected {
    let all = match known {
        [] => "this address has no parameters".to_owned(),
        known => format!("the known parameters are {}", known.join(", ")),
    };
    // Do not repeat an overlong name in the answer.
    let shown: String = name.chars().take(64).collect();
    bad_query(match nearest(&shown, known).filter(|_| !shown.is_empty()) {
        Some(near) => format!("there is no parameter {shown:?}; did you mean {near:?}? ({all})"),
        None => format!("there is no parameter {shown:?}; {all}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_refused_with_what_is_near() {
        let known = ["schema", "link"];
        assert_eq!(read(None, &known).unwrap(), []);
        assert_eq!(read(Some(""), &known).unwrap(), []);
        assert_eq!(
            read(Some("link=a%20b&schema="), &known).unwrap(),
            [("link", "a b".into()), ("schema", String::new())]
        );
        let detail = |query| read(Some(query), &known).unwrap_err().detail;
        assert_eq!(
            detail("schma=soil"),
            "there is no parameter \"schma\"; did you mean \"schema\"? (the known parameters are schema, link)"
        );
        assert!(detail("device=a").ends_with("; the known parameters are schema, link"));
        assert!(detail("=a").contains("there is no parameter \"\";"));
        assert!(detail("link=a&link=b").contains("link is given twice"));
        assert!(detail(&"x".repeat(10_000)).len() < 200);
        assert!(read(Some("a=b"), &[]).unwrap_err().detail.ends_with("this address has no parameters"));
    }
}
