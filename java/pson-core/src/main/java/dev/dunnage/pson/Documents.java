package dev.dunnage.pson;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Builds documents from messages, and writes them. */
final class Documents {
    /** Elements for which memory is reserved before they are there. */
    private static final int ROOM = 16;

    private Documents() {}

    /** Reads the value of the current item. */
    static Object read(PsonReader reader) {
        switch (reader.token()) {
            case NULL:
                return null;
            case BOOLEAN:
                return reader.booleanValue();
            case INTEGER:
                return reader.isLong() ? (Object) reader.longValue() : reader.bigIntegerValue();
            case FLOAT:
                return number(reader);
            case TEXT:
                return reader.stringValue();
            case BYTES:
                return reader.bytesValue();
            case ARRAY:
                return array(reader);
            default:
                return map(reader);
        }
    }

    /** The wire does not tell whole floats from integers. */
    private static Object number(PsonReader reader) {
        double f = reader.doubleValue();
        if (!PsonReader.isInteger(f)) {
            return f;
        }
        return f < 0x1p63 ? (Object) reader.longValue() : reader.bigIntegerValue();
    }

    private static List<Object> array(PsonReader reader) {
        long size = reader.size();
        List<Object> list = new ArrayList<>(size >= 0 && size < ROOM ? (int) size : ROOM);
        while (reader.next() != Token.END_ARRAY) {
            list.add(read(reader));
        }
        return list;
    }

    private static Map<String, Object> map(PsonReader reader) {
        Map<String, Object> map = new LinkedHashMap<>();
        while (reader.next() != Token.END_MAP) {
            String key = reader.stringValue();
            if (map.containsKey(key)) {
                throw PsonException.decoding(Kind.MALFORMED, reader.offset(), "duplicate key \"" + key + "\"");
            }
            reader.next();
            map.put(key, read(reader));
        }
        return map;
    }

    static void write(Object value, PsonWriter writer) {
        if (value instanceof String) {
            writer.writeString((String) value);
        } else if (value instanceof Number) {
            number((Number) value, writer);
        } else if (value == null) {
            writer.writeNull();
        } else if (value instanceof Map) {
            map((Map<?, ?>) value, writer);
        } else if (value instanceof Iterable) {
            array((Iterable<?>) value, writer);
        } else if (value instanceof Boolean) {
            writer.writeBoolean((Boolean) value);
        } else {
            other(value, writer);
        }
    }

    private static void number(Number value, PsonWriter writer) {
        if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte) {
            writer.writeLong(value.longValue());
        } else if (value instanceof Double || value instanceof Float) {
            writer.writeDouble(value.doubleValue());
        } else if (value instanceof BigInteger) {
            writer.writeBigInteger((BigInteger) value);
        } else if (value instanceof BigDecimal) {
            writer.writeDecimal((BigDecimal) value);
        } else {
            // Counters such as AtomicLong.
            writer.writeLong(value.longValue());
        }
    }

    private static void map(Map<?, ?> map, PsonWriter writer) {
        writer.startMap(map.size());
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            Object key = entry.getKey();
            try {
                if (!(key instanceof String)) {
                    throw PsonException.encoding(Kind.TYPE, "a key is not a String, but " + name(key));
                }
                writer.key((String) key);
                write(entry.getValue(), writer);
            } catch (PsonException e) {
                throw e.under(key);
            }
        }
        writer.end();
    }

    private static void array(Iterable<?> values, PsonWriter writer) {
        writer.startArray(values instanceof Collection ? ((Collection<?>) values).size() : 0);
        int at = 0;
        for (Object value : values) {
            try {
                write(value, writer);
            } catch (PsonException e) {
                throw e.under(at);
            }
            at++;
        }
        writer.end();
    }

    private static void other(Object value, PsonWriter writer) {
        if (value instanceof byte[]) {
            writer.writeBytes((byte[]) value, 0, ((byte[]) value).length);
        } else if (value instanceof ByteBuffer) {
            writer.writeBytes((ByteBuffer) value);
        } else if (value instanceof CharSequence || value instanceof Character || value instanceof Enum) {
            writer.writeString(value.toString());
        } else if (value instanceof Optional) {
            write(((Optional<?>) value).orElse(null), writer);
        } else if (value.getClass().isArray()) {
            int size = java.lang.reflect.Array.getLength(value);
            List<Object> list = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                list.add(java.lang.reflect.Array.get(value, i));
            }
            array(list, writer);
        } else {
            throw PsonException.encoding(Kind.TYPE, "PSON cannot express " + name(value));
        }
    }

    private static String name(Object value) {
        return value == null ? "null" : "a value of " + value.getClass().getName();
    }
}
