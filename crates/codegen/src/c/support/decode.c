bool NAME_decode(NAME *m, const uint8_t *bytes, size_t size, NAME_fault *fault)
{
SPLIT
    reader r = {bytes, LENGTH ? bytes + LENGTH : bytes, 0, 1, 0, PREFIX_OK, PREFIX_FIELD_MESSAGE};
    uint8_t slot = next(&r);
    (void)m;
    if (!LENGTH) r.error = PREFIX_TRUNCATED;
    else if (!slot || slot > 63) r.error = PREFIX_MALFORMED;
    else if (slot != PREFIX_SLOT) r.error = PREFIX_RANGE;
    if (!r.error) {
        r.byte = next(&r);
STATEMENTS
        if (is_truncated(&r)) reject(&r, PREFIX_TRUNCATED, PREFIX_FIELD_MESSAGE);
        else if (r.at != r.end || (r.unit > 1 ? r.byte : !r.over)) reject(&r, PREFIX_MALFORMED, PREFIX_FIELD_MESSAGE);
COMPARE
    }
    if (fault) {
        fault->kind = r.error;
        fault->field = r.field;
    }
    return !r.error;
}
