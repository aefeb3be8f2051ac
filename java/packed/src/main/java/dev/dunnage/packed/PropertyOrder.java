package dev.dunnage.packed;

/**
 * The order of an object's properties in a modelled body: each but the last is an index among those that were not named before. {@code
 * spec/packed.md}, "Modelled bodies".
 */
final class PropertyOrder {
    private PropertyOrder() {}

    /** Writes an order. {@code places} has, for each property of the message, its place among those that were written. */
    static void write(int node, int[] places, Sink sink) {
        if (places.length < 2) {
            return;
        }
        long key = Part.key(node, Part.ORDER);
        boolean ascends = ascends(places, 0);
        sink.index(key, ascends ? 0 : 1, 2);
        if (ascends) {
            return;
        }
        Unnamed unnamed = new Unnamed(places.length);
        for (int i = 0; i < places.length - 1; i++) {
            sink.index(key, unnamed.name(places[i]), places.length - i);
        }
    }

    /**
     * Reads the order of {@code count} properties, of which the first {@code named} are those of the schema. Returns the place of each, or null if they
     * are in the order in which they were written.
     */
    static int[] read(int node, int count, int named, Source source) {
        long key = Part.key(node, Part.ORDER);
        int offset = source.offset();
        if (count < 2 || source.index(key, 2) == 0) {
            return null;
        }
        Unnamed unnamed = new Unnamed(count);
        int[] places = new int[count];
        for (int i = 0; i < count; i++) {
            int left = count - i;
            places[i] = unnamed.named(left > 1 ? (int) source.index(key, left) : 0);
        }
        // Additional properties are written in the order of the message, so their places ascend.
        if (ascends(places, 0) || !ascends(places, named)) {
            throw new PackedException(Kind.MALFORMED, offset, "an order that has another form");
        }
        return places;
    }

    /** Whether the places from {@code first} on ascend. */
    private static boolean ascends(int[] places, int first) {
        int before = -1;
        for (int place : places) {
            if (place >= first) {
                if (place < before) {
                    return false;
                }
                before = place;
            }
        }
        return true;
    }

    /** The free places, counted in a Fenwick tree, because a message may have very many properties. */
    private static final class Unnamed {
        /** At index i, the number of free places among the {@code i & -i} places that end with place i - 1. */
        private final int[] sums;

        Unnamed(int count) {
            sums = new int[count + 1];
            for (int i = 0; i <= count; i++) {
                sums[i] = i & -i;
            }
        }

        /** Takes a free place. Returns the number of free places before it. */
        int name(int place) {
            int before = 0;
            for (int i = place; i > 0; i &= i - 1) {
                before += sums[i];
            }
            for (int i = place + 1; i < sums.length; i += i & -i) {
                sums[i]--;
            }
            return before;
        }

        /** Takes and returns the free place with {@code before} free places before it. */
        int named(int before) {
            int place = 0;
            int left = before;
            for (int stride = Integer.highestOneBit(sums.length); stride > 0; stride /= 2) {
                if (place + stride < sums.length && sums[place + stride] <= left) {
                    place += stride;
                    left -= sums[place];
                }
            }
            name(place);
            return place;
        }
    }
}
