"""Bodies of formats that Schemathesis does not know: any bytes."""

import schemathesis
from hypothesis import strategies

BINARY = [
    "application/cbor",
    "application/vnd.dunnage.packed",
    "application/cbor-seq",
    "application/vnd.dunnage.batch;format=packed",
]

for media_type in BINARY:
    schemathesis.openapi.media_type(media_type, strategies.binary(max_size=64))
schemathesis.openapi.media_type("application/x-ndjson", strategies.text(max_size=64).map(str.encode))
