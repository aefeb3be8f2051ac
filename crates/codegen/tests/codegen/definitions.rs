//! Compares the definitions of the bundled schemas with golden files.

use dunnage_codegen::{Mapped, Mapping, avro, cddl, proto, thrift};
use dunnage_schema::Model;

fn mapped(schema: &str, mapping: Mapping) -> Mapped {
    let schema = dunnage_schema::bundled_named(schema).expect("a bundled schema");
    Mapped::of(&Model::compile(schema).expect("bundled schemas compile"), mapping)
}

/// Compares the text with the golden file. Writes it to the target folder, too, from which it can be copied over the golden file.
fn assert_golden(name: &str, text: &str, golden: &str) {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the target folder can be written");
    assert!(text == golden, "{} differs from golden/{name}", path.display());
}

#[test]
fn definitions_of_the_meter_match_the_golden_files() {
    let meter = mapped("meter", Mapping::Exact);
    assert_golden("meter.proto", &proto(&meter), include_str!("../golden/meter.proto"));
    assert_golden("meter.avsc", &avro(&meter), include_str!("../golden/meter.avsc"));
    assert_golden("meter.thrift", &thrift(&meter), include_str!("../golden/meter.thrift"));
}

#[test]
fn float32_definition_of_the_container_matches_the_golden_file() {
    let container = mapped("container", Mapping::Float32);
    let text = proto(&container);
    assert_golden("container-float32.proto", &text, include_str!("../golden/container-float32.proto"));
}

#[test]
fn properties_added_at_the_end_change_nothing_before_them() {
    let short = r#"{"title":"A","type":"object","properties":{
        "a-b":{"type":"integer"},"a_b":{"type":"boolean"}},"required":["a-b"]}"#;
    let long = r#"{"title":"A","type":"object","properties":{
        "a-b":{"type":"integer"},"a_b":{"type":"boolean"},"A-B":{"type":"string"},"additional":{"type":"boolean"}},
        "required":["a-b"]}"#;
    let record =
        |schema| Mapped::of(&Model::compile(schema).expect("a schema"), Mapping::Exact).record().clone();
    let numbered = |schema| record(schema).fields.into_iter().map(|f| (f.name, f.number)).collect::<Vec<_>>();
    let named =
        |fields: &[(&str, u32)]| fields.iter().map(|(n, i)| ((*n).to_owned(), *i)).collect::<Vec<_>>();
    assert_eq!(numbered(short), named(&[("a_b", 1), ("a_b_2", 2), ("additional", 2047)]));
    assert_eq!(
        numbered(long),
        named(&[("a_b", 1), ("a_b_2", 2), ("A_B_3", 3), ("additional", 4), ("additional_2", 2047)])
    );
}

#[test]
fn cddl_definitions_match_the_golden_files() {
    let text = |name: &str| {
        let schema = dunnage_schema::bundled_named(name).expect("a bundled schema");
        cddl(&Model::compile(schema).expect("bundled schemas compile"))
    };
    assert_golden("container.cddl", &text("container"), include_str!("../golden/container.cddl"));
    assert_golden("meter.cddl", &text("meter"), include_str!("../golden/meter.cddl"));
}
