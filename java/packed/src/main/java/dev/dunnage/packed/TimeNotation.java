package dev.dunnage.packed;

import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Text that is a time in one notation, in UTC: the whole number is the time since an epoch in units of its last decimal. */
final class TimeNotation implements Notation {
    /** 0000-01-01, 2000-01-01, 2100-01-01 and 10000-01-01, in seconds since 1970-01-01T00:00:00Z. */
    private static final long YEAR_0 = -62_167_219_200L;
    private static final long YEAR_2000 = 946_684_800L;
    private static final long YEAR_2100 = 4_102_444_800L;
    private static final long YEAR_10000 = 253_402_300_800L;
    private static final int MAX_FRACTION = 9;
    private static final String LETTERS = "YMDhmsf";
    /** The fields in the order of a time: year, month, day, hour, minute, second, fraction. */
    private static final int YEAR = 0;
    private static final int FRACTION = 6;

    /** Each is a letter with its number of digits, or other text. */
    private final List<String> tokens;
    private final long epoch;
    private final long unit;
    private final boolean shortYear;

    TimeNotation(String notation, long epoch) {
        this.epoch = epoch;
        tokens = tokens(notation);
        shortYear = tokens.contains("YY");
        int places = tokens.stream().filter(token -> token.charAt(0) == 'f').mapToInt(String::length).findFirst().orElse(0);
        unit = (long) Floats.POWERS[places];
        int[] found = new int[LETTERS.length()];
        for (String token : tokens) {
            int field = LETTERS.indexOf(token.charAt(0));
            if (field >= 0) {
                boolean width = field == FRACTION ? token.length() <= MAX_FRACTION : token.length() == 2 || field == YEAR && token.length() == 4;
                if (!width || found[field]++ > 0) {
                    throw fault(notation);
                }
            }
        }
        found[FRACTION] = 1;
        if (Arrays.stream(found).anyMatch(count -> count != 1) || epoch < YEAR_0 || epoch > YEAR_10000) {
            throw fault(notation);
        }
    }

    private static LayoutException fault(String notation) {
        return new LayoutException("a notation of a time that is not valid: " + notation);
    }

    /** Splits a notation into runs of a letter and the text between them. */
    private static List<String> tokens(String notation) {
        List<String> tokens = new ArrayList<>();
        int at = 0;
        while (at < notation.length()) {
            int start = at;
            char first = notation.charAt(at++);
            boolean letter = LETTERS.indexOf(first) >= 0;
            while (at < notation.length() && (letter ? notation.charAt(at) == first : LETTERS.indexOf(notation.charAt(at)) < 0)) {
                at++;
            }
            tokens.add(notation.substring(start, at));
        }
        if (tokens.stream().anyMatch(token -> token.charAt(0) == 'f' && token.length() > MAX_FRACTION)) {
            throw fault(notation);
        }
        return tokens;
    }

    /** Whether the notation can write all times from {@code min} to {@code max}. */
    boolean holds(BigInteger min, BigInteger max) {
        BigInteger first = scaled(shortYear ? YEAR_2000 : YEAR_0);
        BigInteger end = scaled(shortYear ? YEAR_2100 : YEAR_10000);
        return min.signum() >= 0 && min.compareTo(first) >= 0 && max.compareTo(end) < 0 && max.bitLength() < Long.SIZE;
    }

    private BigInteger scaled(long second) {
        return BigInteger.valueOf(second - epoch).multiply(BigInteger.valueOf(unit));
    }

    @Override
    public BigInteger number(Object value) {
        if (!(value instanceof String)) {
            throw Values.wrongType("a string that holds a time", value);
        }
        String text = (String) value;
        int[] fields = new int[LETTERS.length()];
        int at = 0;
        for (String token : tokens) {
            int field = LETTERS.indexOf(token.charAt(0));
            int end = at + token.length();
            if (end > text.length() || field < 0 && !text.startsWith(token, at)) {
                return null;
            }
            for (; field >= 0 && at < end; at++) {
                int digit = text.charAt(at) - '0';
                if (digit < 0 || digit > 9) {
                    return null;
                }
                fields[field] = 10 * fields[field] + digit;
            }
            at = end;
        }
        return at < text.length() ? null : number(fields);
    }

    private BigInteger number(int[] fields) {
        try {
            int year = fields[YEAR] + (shortYear ? 2000 : 0);
            LocalDateTime time = LocalDateTime.of(year, fields[1], fields[2], fields[3], fields[4], fields[5]);
            return scaled(time.toEpochSecond(ZoneOffset.UTC)).add(BigInteger.valueOf(fields[FRACTION]));
        } catch (DateTimeException e) {
            return null;
        }
    }

    @Override
    public String shown(BigInteger n) {
        return Describe.quoted(value(n));
    }

    @Override
    public String expected(Object value, BigInteger first, BigInteger step) {
        return "a time like " + shown(first);
    }

    @Override
    public String value(BigInteger n) {
        long scaled = n.longValue();
        LocalDateTime time = LocalDateTime.ofEpochSecond(scaled / unit + epoch, 0, ZoneOffset.UTC);
        long[] fields = {
            time.getYear(), time.getMonthValue(), time.getDayOfMonth(), time.getHour(), time.getMinute(), time.getSecond(), scaled % unit
        };
        StringBuilder text = new StringBuilder();
        for (String token : tokens) {
            int field = LETTERS.indexOf(token.charAt(0));
            if (field < 0) {
                text.append(token);
            }
            for (int place = token.length() - 1; field >= 0 && place >= 0; place--) {
                text.append((char) ('0' + fields[field] / (long) Floats.POWERS[place] % 10));
            }
        }
        return text.toString();
    }
}
