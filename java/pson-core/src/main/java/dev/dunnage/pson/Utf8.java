package dev.dunnage.pson;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Looks at UTF-8 where it is. */
final class Utf8 {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long HIGH_BITS = 0x8080808080808080L;

    private Utf8() {}

    /** Returns whether all bytes are ASCII. */
    static boolean isAscii(byte[] bytes, int start, int end) {
        if (end - start < 8) {
            return isShortAscii(bytes, start, end);
        }
        long all = (long) LONGS.get(bytes, end - 8);
        for (int i = start; i < end - 8; i += 8) {
            all |= (long) LONGS.get(bytes, i);
        }
        return (all & HIGH_BITS) == 0;
    }

    private static boolean isShortAscii(byte[] bytes, int start, int end) {
        if (end >= 8) {
            // The bytes before them are shifted away; of no bytes, the second shift removes the last.
            return ((long) LONGS.get(bytes, end - 8) & HIGH_BITS) >>> 8 * (7 - (end - start)) >>> 8 == 0;
        }
        int all = 0;
        for (int i = start; i < end; i++) {
            all |= bytes[i];
        }
        return all >= 0;
    }

    /** Returns whether the bytes are UTF-8 as in RFC 3629: without surrogates, overlong forms, and nothing above U+10FFFF. */
    static boolean isValid(byte[] bytes, ByteBuffer buffer, int start, int end) {
        int i = start;
        while (i < end) {
            int first = at(bytes, buffer, i++);
            if (first < 0x80) {
                continue;
            }
            int more = first >= 0xc2 && first <= 0xdf ? 1 : first >= 0xe0 && first <= 0xef ? 2 : first >= 0xf0 && first <= 0xf4 ? 3 : 4;
            if (more == 4 || end - i < more) {
                return false;
            }
            int second = at(bytes, buffer, i);
            boolean isForbidden = first == 0xe0 && second < 0xa0 || first == 0xed && second > 0x9f || first == 0xf0 && second < 0x90 || first == 0xf4 && second > 0x8f;
            if (isForbidden) {
                return false;
            }
            for (int k = 0; k < more; k++) {
                if ((at(bytes, buffer, i++) & 0xc0) != 0x80) {
                    return false;
                }
            }
        }
        return true;
    }

    private static int at(byte[] bytes, ByteBuffer buffer, int i) {
        return (bytes != null ? bytes[i] : buffer.get(i)) & 0xff;
    }
}
