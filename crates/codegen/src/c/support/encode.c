size_t NAME_encode(const NAME *m, uint8_t *buffer, size_t size, NAME_fault *fault)
{
    writer w = {buffer, size ? buffer + size : buffer, PREFIX_SLOT, 1, PREFIX_OK, PREFIX_FIELD_MESSAGE};
    (void)m;
STATEMENTS
    if (w.at == w.end) refuse(&w, PREFIX_TRUNCATED, PREFIX_FIELD_MESSAGE);
    else *w.at++ = w.byte;
CHECK
    if (fault) {
        fault->kind = w.error;
        fault->field = w.field;
    }
    return w.error ? 0 : (size_t)(w.at - buffer);
}

