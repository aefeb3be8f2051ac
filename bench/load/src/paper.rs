//! The paper's measurements: "Evaluating Binary Serialization Protocols for IoT/M2M Applications over Hybrid Terrestrial and
//! Non-Terrestrial Networks", Telecom 2026, 7(2), 43, tables 3 to 6.

/// The paper's name in the results.
pub const TITLE: &str = "Telecom 2026, 7(2), 43";

/// A row: format, devices, replicas, requests per second, mean and 95th percentile of the response time in ms, failures in %.
pub type Row = (&'static str, usize, usize, f64, f64, f64, f64);

pub const ROWS: [Row; 26] = [
    ("cbor", 100, 1, 48.0, 65.0, 130.0, 0.0),
    ("cbor", 300, 1, 143.0, 62.0, 145.0, 0.0),
    ("cbor", 500, 1, 239.0, 65.0, 180.0, 0.0),
    ("cbor", 1000, 1, 407.0, 418.0, 2100.0, 0.0),
    ("cbor", 2000, 1, 435.0, 2352.0, 11667.0, 4.0),
    ("msgpack", 100, 1, 48.0, 66.0, 145.0, 0.0),
    ("msgpack", 300, 1, 143.0, 59.0, 120.0, 0.0),
    ("msgpack", 500, 1, 239.0, 57.0, 125.0, 0.0),
    ("msgpack", 1000, 1, 418.0, 353.0, 2033.0, 0.0),
    ("msgpack", 2000, 1, 478.0, 2043.0, 10000.0, 3.0),
    ("struct-zlib (float32)", 100, 1, 48.0, 67.0, 115.0, 0.0),
    ("struct-zlib (float32)", 300, 1, 143.0, 62.0, 120.0, 0.0),
    ("struct-zlib (float32)", 500, 1, 239.0, 60.0, 125.0, 0.0),
    ("struct-zlib (float32)", 1000, 1, 418.0, 359.0, 2100.0, 0.0),
    ("struct-zlib (float32)", 2000, 1, 496.0, 1853.0, 8900.0, 2.0),
    ("protobuf (float32)", 100, 1, 48.0, 72.0, 140.0, 0.0),
    ("protobuf (float32)", 300, 1, 143.0, 63.0, 130.0, 0.0),
    ("protobuf (float32)", 500, 1, 239.0, 60.0, 125.0, 0.0),
    ("protobuf (float32)", 1000, 1, 425.0, 321.0, 1967.0, 0.0),
    ("protobuf (float32)", 2000, 1, 492.0, 1863.0, 9867.0, 3.0),
    ("struct-zlib (float32)", 500, 2, 239.0, 60.0, 130.0, 0.0),
    ("struct-zlib (float32)", 1000, 2, 478.0, 59.0, 150.0, 0.0),
    ("protobuf (float32)", 500, 2, 240.0, 58.0, 115.0, 0.0),
    ("protobuf (float32)", 1000, 2, 478.0, 58.0, 127.0, 0.0),
    ("struct-zlib (float32)", 2000, 4, 711.0, 701.0, 1124.0, 0.0),
    ("protobuf (float32)", 2000, 4, 712.0, 706.0, 1096.0, 0.0),
];

/// Table 6: format, devices, replicas, Figure of Merit.
pub const MERIT: [(&str, usize, usize, f64); 10] = [
    ("struct-zlib (float32)", 500, 1, 1914.0),
    ("struct-zlib (float32)", 1000, 1, 199.0),
    ("struct-zlib (float32)", 2000, 1, 54.0),
    ("protobuf (float32)", 500, 1, 1914.0),
    ("protobuf (float32)", 1000, 1, 216.0),
    ("protobuf (float32)", 2000, 1, 49.0),
    ("struct-zlib (float32)", 1000, 2, 3188.0),
    ("struct-zlib (float32)", 2000, 4, 633.0),
    ("protobuf (float32)", 1000, 2, 3762.0),
    ("protobuf (float32)", 2000, 4, 650.0),
];
