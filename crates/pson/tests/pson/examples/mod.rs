//! Reads the examples of the Internet-Drafts in `docs/drafts`.

use std::collections::BTreeMap;

/// An example: its fields by their names, such as `vector`, `message` and `bytes`.
pub type Example = BTreeMap<String, String>;

/// Returns the source of a draft.
pub fn draft(name: &str) -> String {
    let path = format!("{}/../../docs/drafts/{name}.xml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the examples in all `<sourcecode type="test-vectors">`. Empty lines separate them. A field begins with its name at the start of a line; ` ;` begins a comment.
pub fn examples(draft: &str) -> Vec<Example> {
    let open = "<sourcecode type=\"test-vectors\"><![CDATA[\n";
    let blocks = draft.split(open).skip(1).map(|rest| rest.split("]]>").next().unwrap());
    blocks.flat_map(|block| block.split("\n\n")).map(example).collect()
}

fn example(text: &str) -> Example {
    let mut fields = Example::new();
    let mut name = "";
    for line in text.lines().map(|line| line.split(" ;").next().unwrap()) {
        let mut value = line;
        if !line.starts_with(' ') {
            (name, value) = line.split_once(' ').unwrap();
        }
        fields.entry(name.to_owned()).or_default().push_str(value.trim());
    }
    fields
}

/// Returns the cells of each row in the body of the table with this anchor, without their tags.
#[allow(dead_code)] // only one of the drafts has such tables
pub fn rows(draft: &str, anchor: &str) -> Vec<Vec<String>> {
    let table = draft.split(&format!("<table anchor=\"{anchor}\">")).nth(1).unwrap();
    let body = table.split("<tbody>").nth(1).unwrap().split("</tbody>").next().unwrap();
    let rows = body.split("<tr>").skip(1);
    rows.map(|row| {
        row.split("<td>").skip(1).map(|cell| without_tags(cell.split("</td>").next().unwrap())).collect()
    })
    .collect()
}

fn without_tags(cell: &str) -> String {
    cell.replace("<tt>", "").replace("</tt>", "")
}

/// Removes the white space, by which the lines of a draft are wrapped.
pub fn compact(text: &str) -> String {
    text.split_whitespace().collect()
}
