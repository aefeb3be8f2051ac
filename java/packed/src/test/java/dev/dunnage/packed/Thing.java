package dev.dunnage.packed;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A thing that moves and measures: random messages of the layouts of {@code series.json}. At times it is elsewhere, or has rare values. */
final class Thing {
    private static final Instant START = Instant.parse("2026-02-01T00:00:00Z");

    private final Random random;
    private long at;
    private long east = 500;

    Thing(long seed) {
        random = new Random(seed);
    }

    Object message(String layout) {
        if (layout.equals("numbers")) {
            return numbers();
        }
        List<Object> readings = new ArrayList<>();
        for (int left = random.nextInt(13); left > 0; left--) {
            readings.add(reading());
        }
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("battery", random.nextInt(101));
        message.put("readings", readings);
        return message;
    }

    private Object of(Object... values) {
        return values[Math.min(random.nextInt(values.length), random.nextInt(values.length))];
    }

    private Object reading() {
        boolean isRare = random.nextInt(20) == 0;
        at += isRare ? random.nextInt(90_000) : 1;
        east = isRare ? random.nextInt(36_000) : Math.floorMod(east + 30 + random.nextInt(5), 36_000L);
        Map<String, Object> reading = new LinkedHashMap<>();
        reading.put("time", START.plusSeconds(900 * (at % 500_000) + random.nextInt(3)).toString());
        reading.put("count", isRare ? random.nextInt(1_000_000) : (10 * at + random.nextInt(2)) % 1_000_000);
        reading.put("east", east / 100.0);
        reading.put("state", of("off", "on", "fault", "starting"));
        reading.put("cell", of("222-10-1A2B", "208-1-7", "208-1-7F"));
        reading.put("note", of("", "dry", "süd", "\ud83c\udf0a"));
        reading.put("level", of(0.5, 0.1, 0.10000000149011612, 1e-13, -7, 1e300));
        if (random.nextInt(5) > 0) {
            reading.put("error", random.nextBoolean() ? null : random.nextInt(256));
        }
        return reading;
    }

    /** Returns numbers that grow by 100 each, from 0 again at times, or any numbers. */
    private Object numbers() {
        List<Object> numbers = new ArrayList<>();
        boolean isAny = random.nextInt(10) == 0;
        for (int left = random.nextInt(201); left > 0; left--) {
            east = random.nextInt(40) == 0 ? 0 : east + 100;
            numbers.add(isAny ? random.nextInt() & 0xffff_ffffL : east);
        }
        return numbers;
    }
}
