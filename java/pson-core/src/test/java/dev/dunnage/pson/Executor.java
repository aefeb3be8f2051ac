package dev.dunnage.pson;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;

/** Answers the requests of conform/README.md, one line each. Structs are left to the Jackson module. */
public final class Executor {
    private static final int SIZE = 1 << 20;
    private static final Pson STRICT = Pson.DEFAULT.withStrict(true);
    private static final Pson SINGLE = Pson.DEFAULT.withSinglePrecision(true);
    private static int turn;

    private Executor() {}

    /** Reads requests until the input ends. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII), 1 << 16);
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, StandardCharsets.US_ASCII);
        StringBuilder answers = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (!line.isEmpty()) {
                answers.append(answer(line)).append('\n');
            }
            if (line.isEmpty() || answers.length() > 1 << 16) {
                out.print(answers);
                out.flush();
                answers.setLength(0);
            }
        }
    }

    private static String answer(String line) {
        try {
            String[] words = line.split(" ", -1);
            return "ok" + answer(words);
        } catch (PsonException e) {
            return "error " + e.kind() + " " + (e.pointer() == null ? String.valueOf(e.offset()) : e.pointer().isEmpty() ? String.valueOf(SIZE) : e.pointer());
        } catch (UnsupportedOperationException e) {
            return "skip";
        } catch (RuntimeException | IOException | StackOverflowError e) {
            return "fault " + e + " " + Arrays.toString(e.getStackTrace()).replace('\n', ' ');
        }
    }

    private static String answer(String[] words) throws IOException {
        StringBuilder out = new StringBuilder();
        switch (words[0]) {
            case "hello":
                return " nesting 32 size " + SIZE + " float 64 line " + (4 * SIZE + 100);
            case "decode":
                decode(mode(words[1]), Words.unhex(words[2]), out);
                return out.toString();
            case "walk":
                PsonReader reader = reader(mode(words[1]), words[2]);
                reader.next();
                item(reader, out);
                reader.next();
                return out.toString();
            case "skip":
                PsonReader skipped = reader(mode(words[1]), words[2]);
                skipped.next();
                skipped.skip();
                skipped.next();
                return "";
            case "read":
                read(words[1], reader(Pson.DEFAULT, words[2]), out);
                return out.toString();
            case "find":
                find(words[1], reader(Pson.DEFAULT, words[2]), out);
                return out.toString();
            case "encode":
                return " " + Words.hex(encode(words[1].equals("single") ? SINGLE : Pson.DEFAULT, Arrays.asList(words).subList(2, words.length).iterator()));
            case "buffers":
                return buffers(Arrays.asList(words).subList(1, words.length).iterator());
            default:
                throw new UnsupportedOperationException();
        }
    }

    private static Pson mode(String mode) {
        return mode.equals("strict") ? STRICT : Pson.DEFAULT;
    }

    /** Reads from an array, or from a buffer outside of the heap. */
    private static PsonReader reader(Pson pson, String hex) {
        byte[] message = Words.unhex(hex);
        return turn++ % 2 == 0 ? pson.reader(message, 0, message.length) : pson.reader(direct(message));
    }

    private static ByteBuffer direct(byte[] message) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(message.length + 3);
        buffer.position(3);
        buffer.put(message).position(3);
        return buffer;
    }

    private static void decode(Pson pson, byte[] message, StringBuilder out) throws IOException {
        switch (turn++ % 3) {
            case 0:
                Words.describe(pson.decode(message), out);
                break;
            case 1:
                Words.describe(pson.decode(direct(message)), out);
                break;
            default:
                PsonStream stream = pson.stream(new ByteArrayInputStream(message));
                byte[] first = stream.next();
                boolean isAll = first != null && first.length == message.length || first == null && message.length == 0;
                Words.describe(pson.decode(isAll ? first == null ? message : first : message), out);
        }
    }

    private static void item(PsonReader reader, StringBuilder out) {
        out.append(' ');
        switch (reader.token()) {
            case INTEGER:
                out.append('i').append(reader.isBelowLong() ? "<" : reader.bigIntegerValue());
                break;
            case FLOAT:
                Words.number(out, reader.doubleValue());
                break;
            case TEXT:
                Words.text(out, reader.stringValue());
                break;
            case BYTES:
                out.append('b').append(Words.hex(reader.bytesValue()));
                break;
            case BOOLEAN:
                out.append(reader.booleanValue() ? 't' : 'f');
                break;
            case NULL:
                out.append('n');
                break;
            case ARRAY:
                out.append('a').append(Long.toUnsignedString(reader.size()));
                while (reader.next() != Token.END_ARRAY) {
                    item(reader, out);
                }
                break;
            default:
                out.append('m').append(Long.toUnsignedString(reader.size()));
                while (reader.next() != Token.END_MAP) {
                    out.append(' ');
                    Words.text(out, reader.stringValue());
                    reader.next();
                    item(reader, out);
                }
        }
    }

    private static void read(String type, PsonReader reader, StringBuilder out) {
        reader.next();
        if (!type.startsWith("[")) {
            one(type, reader, out);
        } else {
            reader.size();
            if (reader.token() != Token.ARRAY) {
                throw PsonException.decoding(Kind.TYPE, reader.offset(), "no array");
            }
            StringBuilder elements = new StringBuilder();
            int count = 0;
            for (; reader.next() != Token.END_ARRAY; count++) {
                one(type.substring(1, type.length() - 1), reader, elements);
            }
            out.append(" a").append(count).append(elements);
        }
        reader.next();
    }

    private static void one(String type, PsonReader reader, StringBuilder out) {
        switch (type) {
            case "bool":
                Words.describe(reader.booleanValue(), out);
                return;
            case "str":
                if (reader.token() == Token.KEY) {
                    throw new IllegalStateException();
                }
                Words.describe(reader.stringValue(), out);
                return;
            case "bytes":
                Words.describe(reader.bytesValue(), out);
                return;
            case "i64":
                Words.describe(reader.longValue(), out);
                return;
            case "u64":
                BigInteger n = reader.bigIntegerValue();
                if (n.signum() < 0) {
                    throw PsonException.decoding(Kind.RANGE, reader.offset(), "negative");
                }
                Words.describe(n, out);
                return;
            case "f64":
                Words.describe(reader.doubleValue(), out);
                return;
            case "f32":
                double f = reader.doubleValue();
                require(f != f || (float) f == f, reader);
                Words.describe(f, out);
                return;
            case "null":
                if (reader.token() != Token.NULL) {
                    throw PsonException.decoding(Kind.TYPE, reader.offset(), "not null");
                }
                Words.describe(null, out);
                return;
            default:
                long whole = reader.longValue();
                int bits = Integer.parseInt(type.substring(1));
                long end = 1L << (type.charAt(0) == 'u' ? bits : bits - 1);
                require(whole < end && whole >= (type.charAt(0) == 'u' ? 0 : -end), reader);
                Words.describe(whole, out);
        }
    }

    private static void require(boolean isInRange, PsonReader reader) {
        if (!isInRange) {
            throw PsonException.decoding(Kind.RANGE, reader.offset(), "another number");
        }
    }

    private static void find(String hex, PsonReader reader, StringBuilder out) {
        byte[] key = Words.unhex(hex);
        reader.next();
        reader.size();
        if (reader.token() != Token.MAP) {
            throw PsonException.decoding(Kind.TYPE, 0, "no map");
        }
        boolean isFound = false;
        while (reader.next() != Token.END_MAP) {
            boolean isIt = !isFound && reader.textEquals(key);
            reader.next();
            if (isIt) {
                isFound = true;
                item(reader, out);
            } else {
                reader.skip();
            }
        }
        out.append(isFound ? "" : " absent");
        reader.next();
    }

    private static byte[] encode(Pson pson, Iterator<String> words) {
        byte[] message = pson.encode(Words.parse(words));
        byte[] again = pson.encode(pson.decode(message));
        if (!Arrays.equals(again, message)) {
            throw new IllegalStateException("decoded and encoded again: " + Words.hex(again));
        }
        return message;
    }

    /** Encodes into buffers of every size that is too small. */
    private static String buffers(Iterator<String> words) {
        Object value = Words.parse(words);
        byte[] message = Pson.DEFAULT.encode(value);
        for (int size = 0; size < message.length; size++) {
            ByteBuffer target = ByteBuffer.allocate(size);
            try {
                Pson.DEFAULT.encode(value, target);
                throw new IllegalStateException(size + " bytes were enough");
            } catch (PsonException e) {
                if (e.kind() != Kind.TRUNCATED || target.position() != 0 || !e.getMessage().contains(" " + message.length + " bytes")) {
                    throw new IllegalStateException(e);
                }
            }
        }
        ByteBuffer whole = ByteBuffer.allocateDirect(message.length + 1);
        Pson.DEFAULT.encode(value, whole);
        if (whole.position() != message.length) {
            throw new IllegalStateException("another size");
        }
        return "";
    }
}
