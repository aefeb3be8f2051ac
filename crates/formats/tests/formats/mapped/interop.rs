//! Bytes of the same messages from other implementations.
//!
//! Generated once with Python from the definitions that `dunnage_codegen` writes and the messages of the schemas:
//! protobuf 7.36.2 (with protoc, of grpcio-tools 1.85.1), fastavro 1.13.1, thriftpy2 0.7.1, and Python's own `struct`
//! and `zlib`. The values were computed from the messages' text with Python's `decimal` and `datetime`.

use super::models::{bundled, container_message, container_model, examples};
use dunnage_formats::{Id, Mapping, Value};
use dunnage_schema::Model;

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn assert_agree(model: &Model, message: &Value, id: Id, mapping: Mapping, golden: &str) {
    let format = id.open(Some(model), mapping).unwrap();
    let mut bytes = Vec::new();
    format.encode(message, &mut bytes).unwrap();
    assert_eq!(bytes, hex(golden), "{id} {mapping:?}");
    assert_eq!(format.decode(&hex(golden)).as_ref(), Ok(message), "{id} {mapping:?}");
}

#[test]
fn container_message_matches_other_implementations() {
    let (model, message) = (container_model(), container_message());
    let agree = |id, mapping, golden| assert_agree(&model, &message, id, mapping, golden);
    agree(Id::Protobuf, Mapping::Exact, CONTAINER_PROTOBUF);
    agree(Id::Protobuf, Mapping::Float32, CONTAINER_PROTOBUF_FLOAT32);
    agree(Id::Avro, Mapping::Exact, CONTAINER_AVRO);
    agree(Id::ThriftBinary, Mapping::Exact, CONTAINER_THRIFT_BINARY);
    agree(Id::ThriftCompact, Mapping::Exact, CONTAINER_THRIFT_COMPACT);
    agree(Id::Struct, Mapping::Exact, CONTAINER_STRUCT);
    agree(Id::Struct, Mapping::Float32, CONTAINER_STRUCT_FLOAT32);
    agree(Id::StructZlib, Mapping::Float32, CONTAINER_STRUCT_ZLIB_FLOAT32);
}

#[test]
fn meter_messages_with_nested_absent_and_null_values_match_other_implementations() {
    let (_, schema) = bundled().iter().find(|(name, _)| *name == "meter").unwrap();
    let model = Model::compile(schema).unwrap();
    for (message, golden) in examples(schema).iter().zip([METER_0, METER_1]) {
        let ids = [Id::Protobuf, Id::Avro, Id::ThriftBinary, Id::ThriftCompact];
        for (id, golden) in ids.into_iter().zip(golden) {
            assert_agree(&model, message, id, Mapping::Exact, golden);
        }
    }
}

const CONTAINER_PROTOBUF: &str = "\
    08e5a7aca3ba0b120b4c4d4355313233313233371888cf82b21b201c2a0e3939392d30312d312d33314434313860420a\
    89a5bd09b78a21c5bd3f48c81a50bc3758b4f5e904680170b4f32678e88a238001ac4d88019a0290018b62980106a001\
    0e";

const CONTAINER_PROTOBUF_FLOAT32: &str = "\
    0a0c333933363030353034383035120b4c4d4355313233313233371a0f323030343233203030323934302e30201c2a0e\
    3939392d30312d312d3331443431386045527b78c44d9fcdd8c155960350c25d000088416500008e426d52197d447201\
    447801850113f2fe418d01faede5419501000046429d019a99e141a5019a19fb42a80106b5013333b33f";

const CONTAINER_AVRO: &str = "\
    cacfd8c6f416164c4d435531323331323337909e85e436381c3939392d30312d312d333144343100c0010689a5bd09b7\
    8a21c5bd3f00c81af86ee8ead3090002b4f326e88a23ac4db40496c4010c1c";

const CONTAINER_THRIFT_BINARY: &str = "\
    0a00010000005ba46b13e50b00020000000b4c4d4355313233313233370a000300000001b640a7880300041c0b000500\
    00000e3939392d30312d312d333144343108000600000000030007600f00080800000003ff6856bbfffbdd64fff8109d\
    06000906a406000a1bbc08000b009a7ab408000c0000000008000d0000000108000e0004dcda08000f000462b4080010\
    00001356060011011a0800120000310b03001306060014000e00";

const CONTAINER_THRIFT_COMPACT: &str = "\
    16cacfd8c6f416180b4c4d43553132333132333716909e85e436131c180e3939392d30312d312d333144343115001360\
    193589a5bd09b78a21c5bd3f14c81a14f86e15e8ead3091500150215b4f32615e88a2315ac4d14b4041596c401130614\
    1c00";

const CONTAINER_STRUCT: &str = "\
    0000005ba46b13e5000b00000001b640a7881c000e0060ff6856bbfffbdd64fff8109d06a41bbc009a7ab400010004dc\
    da000462b400001356011a310b06000e4c4d4355313233313233373939392d30312d312d3331443431";

const CONTAINER_STRUCT_FLOAT32: &str = "\
    000c000b000f1c000e0060c4787b52c1d8cd9fc250039641880000428e0000447d195200010141fef21341e5edfa4246\
    000041e1999a42fb199a063fb333333339333630303530343830354c4d43553132333132333732303034323320303032\
    3934302e303939392d30312d312d333144343144";

const CONTAINER_STRUCT_ZLIB_FLOAT32: &str = "\
    78da63e061e066e09761e063483852511d74f0c6d9f9870298a73976303038f53130b8d44a063130323afefb24ecf8f4\
    ed2f27370606c787336739fd969cc566bfd9d8d8d8d2d8ccc0c0d4c0c4c2c0d4c7d739d4d0c81888cc8d0c0c4c8c8c15\
    0c0c8c2c4d0cf40c2c2d2d750d0c750d758d0d5d4c0c5d000e8a2099";

const METER_0: [&str; 4] = [
    "\
        0a0d444e473030313233343536373810c4edf45d220908ed93da081082c518288627320c088a1210920318a60e20c401\
        320b08fa11101f18800120b401320c08901210fa0118810920c70138024202083e4a05342e312e30",
    "\
        1a444e473030313233343536373888dbe9bb0100daa7b41102848a31028c4e069424a406a60e02c401f4233e800102b4\
        01a024f403810902c70100020402023e020a342e312e30",
    "\
        0b00010000000d444e47303031323334353637380a0002000000000bbd36c4080003000000000c00040a000100000000\
        011689ed0a000200000000000622820006000513860f00060c00000003060001090a0600020192080003000003930300\
        04620006000108fa060002001f080003000000400300045a00060001091006000200fa080003fffffdbf0300049c0003\
        0007020c00080300011f000b000900000005342e312e3000",
    "\
        180d444e47303031323334353637381688dbe9bb0115001c16daa7b41116848a3100148c4e193c14942414a40615a60e\
        13620014f423143e158001135a0014a02414f403158109139c0013021c131f001805342e312e3000",
];

const METER_1: [&str; 4] = [
    "0a0d444e473030313233343536373910c7edf45d1801220308ee05320308fd114200",
    "1a444e47303031323334353637398edbe9bb0102dc0b000002fa230000000000020000",
    "\
        0b00010000000d444e47303031323334353637390a0002000000000bbd36c7080003000000010c00040a000100000000\
        000002ee000f00060c0000000106000108fd060002000008000300000000000c00080000",
    "180d444e4730303132333435363739168edbe9bb0115021c16dc0b00291c14fa2314001500002c0000",
];
