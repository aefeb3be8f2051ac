/** Packed messages: encoding and decoding with an exported layout. */
module dev.dunnage.packed {
    requires static com.fasterxml.jackson.databind;

    exports dev.dunnage.packed;
}
