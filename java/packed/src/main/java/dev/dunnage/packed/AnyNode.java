package dev.dunnage.packed;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A value of any type, which is written with its type. {@code spec/packed.md}, "Modelled bodies". */
final class AnyNode extends Node {
    private static final int FORMS = 10;
    private static final int NULL = 0;
    private static final int FALSE = 1;
    private static final int TRUE = 2;
    private static final int WHOLE = 3;
    private static final int NEGATIVE = 4;
    private static final int FLOAT = 5;
    private static final int TEXT = 6;
    private static final int BYTES = 7;
    private static final int ARRAY = 8;
    private static final int MAP = 9;

    /** Writes and reads the floats, which have the places of this node. */
    private final FloatNode floats;

    AnyNode(int id) {
        super(id);
        floats = new FloatNode(id);
    }

    private static int form(Object value) {
        if (value == null) {
            return NULL;
        } else if (value instanceof Boolean) {
            return (Boolean) value ? TRUE : FALSE;
        } else if (value instanceof Long) {
            return (Long) value < 0 ? NEGATIVE : WHOLE;
        } else if (value instanceof Number) {
            return value instanceof BigInteger ? WHOLE : FLOAT;
        } else if (value instanceof String) {
            return TEXT;
        } else if (value instanceof byte[]) {
            return BYTES;
        } else if (value instanceof List) {
            return ARRAY;
        } else if (value instanceof Map) {
            return MAP;
        }
        throw Values.wrongType("a value of JSON or byte[]", value);
    }

    @Override
    void write(Object value, Writing to, int nesting) {
        int form = form(value);
        Sink sink = to.sink;
        sink.index(Part.key(id, Part.FORM), form, FORMS);
        switch (form) {
            case WHOLE:
                sink.sized(Part.key(id, Part.VALUE), ((Number) value).longValue());
                break;
            case NEGATIVE:
                sink.sized(Part.key(id, Part.VALUE), ~(Long) value);
                break;
            case FLOAT:
                floats.write(value, to, nesting);
                break;
            case TEXT:
                to.limits.takeText((String) value, 0);
                sink.text(Part.key(id, Part.VALUE), (String) value, 0, Bounds.OPEN);
                break;
            case BYTES:
                sink.sized(Part.key(id, Part.COUNT), ((byte[]) value).length);
                for (byte b : (byte[]) value) {
                    sink.raw(Part.key(id, Part.VALUE), b & 0xff, Byte.SIZE);
                }
                break;
            case ARRAY:
                writeArray((List<?>) value, to, Limits.inside(nesting, 0));
                break;
            case MAP:
                writeMap((Map<?, ?>) value, to, Limits.inside(nesting, 0));
                break;
            default:
        }
    }

    private void writeArray(List<?> items, Writing to, int nesting) {
        to.sink.sized(Part.key(id, Part.COUNT), items.size());
        for (int i = 0; i < items.size(); i++) {
            try {
                to.value(this, items.get(i), nesting);
            } catch (PackedException e) {
                throw e.under(i);
            }
        }
    }

    private void writeMap(Map<?, ?> members, Writing to, int nesting) {
        to.sink.sized(Part.key(id, Part.COUNT), members.size());
        for (Map.Entry<?, ?> member : members.entrySet()) {
            String key = (String) member.getKey();
            to.limits.takeText(key, 0);
            to.sink.text(Part.key(id, Part.KEY), key, 0, Bounds.OPEN);
            try {
                to.value(this, member.getValue(), nesting);
            } catch (PackedException e) {
                throw e.under(key);
            }
        }
    }

    @Override
    Object read(Reading from, int nesting) {
        Source source = from.source;
        int offset = source.offset();
        int form = (int) source.index(Part.key(id, Part.FORM), FORMS);
        switch (form) {
            case NULL:
                return null;
            case FALSE:
            case TRUE:
                return form == TRUE;
            case WHOLE:
                return Values.number(Values.unsigned(source.sized(Part.key(id, Part.VALUE))));
            case NEGATIVE:
                long size = source.sized(Part.key(id, Part.VALUE));
                if (size < 0) {
                    throw new PackedException(Kind.RANGE, offset, "a number below those of 64 bits");
                }
                return ~size;
            case FLOAT:
                Object number = floats.read(from, nesting);
                if (!(number instanceof Double)) {
                    throw new PackedException(Kind.MALFORMED, offset, "a whole number as a float");
                }
                return number;
            case TEXT:
                String text = source.text(Part.key(id, Part.VALUE), 0, Bounds.OPEN);
                from.limits.takeText(text, offset);
                return text;
            case BYTES:
                return readBytes(source);
            case ARRAY:
                return readArray(from, Limits.inside(nesting, offset));
            default:
                return readMap(from, Limits.inside(nesting, offset));
        }
    }

    private byte[] readBytes(Source source) {
        long count = source.sized(Part.key(id, Part.COUNT));
        // The message may end long before the bytes that it announces.
        byte[] bytes = new byte[16];
        int size = 0;
        for (; Long.compareUnsigned(size, count) < 0; size++) {
            if (size == bytes.length) {
                bytes = Arrays.copyOf(bytes, 2 * size);
            }
            bytes[size] = (byte) source.raw(Part.key(id, Part.VALUE), Byte.SIZE);
        }
        return Arrays.copyOf(bytes, size);
    }

    private List<Object> readArray(Reading from, int nesting) {
        long count = from.source.sized(Part.key(id, Part.COUNT));
        List<Object> items = new ArrayList<>();
        while (Long.compareUnsigned(items.size(), count) < 0) {
            try {
                items.add(from.value(this, nesting));
            } catch (PackedException e) {
                throw e.under(items.size());
            }
        }
        return items;
    }

    private Map<String, Object> readMap(Reading from, int nesting) {
        long count = from.source.sized(Part.key(id, Part.COUNT));
        Map<String, Object> members = new LinkedHashMap<>();
        while (Long.compareUnsigned(members.size(), count) < 0) {
            from.limits.take(1, from.source.offset());
            String key = from.newKey(id, Map.of(), members);
            try {
                members.put(key, read(from, nesting));
            } catch (PackedException e) {
                throw e.under(key);
            }
        }
        return members;
    }

    @Override
    boolean carriesThis(Object value, Limits limits) {
        return true;
    }

    @Override
    long maxBits() {
        return Bits.OPEN;
    }

    @Override
    void addLeaves(Leaves leaves) {
        throw new IllegalStateException("a modelled layout has no statistics");
    }
}
