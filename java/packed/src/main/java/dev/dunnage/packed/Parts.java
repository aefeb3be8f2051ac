package dev.dunnage.packed;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/** The parts of a message that are in its coded body, in their order: a sink that keeps them as the reference of deltas. */
final class Parts implements Sink {
    /** Where a part is in its message. */
    static final class Place {
        final long key;
        final boolean isOpaque;
        private final int[] path;

        Place(long key, boolean isOpaque, int[] path) {
            this.key = key;
            this.isOpaque = isOpaque;
            this.path = path;
        }

        @Override
        public boolean equals(Object other) {
            Place place = other instanceof Place ? (Place) other : null;
            return place != null && key == place.key && isOpaque == place.isOpaque && Arrays.equals(path, place.path);
        }

        @Override
        public int hashCode() {
            return 31 * Arrays.hashCode(path) + Long.hashCode(isOpaque ? ~key : key);
        }
    }

    private final Map<Place, Datum> parts = new LinkedHashMap<>();
    private final Path path = new Path();

    /** Returns the part of a place, or null. */
    Datum find(Place place) {
        return parts.get(place);
    }

    void forEach(BiConsumer<Place, Datum> action) {
        parts.forEach(action);
    }

    private void keep(long key, Datum part) {
        parts.put(new Place(key, part.form != Datum.Form.INDEX, path.indices), part);
    }

    @Override
    public Body body() {
        return Body.CODED;
    }

    @Override
    public void index(long key, long value, long count) {
        // An index of one value is in no body.
        if (count > 1) {
            keep(key, Datum.index(value, count));
        }
    }

    @Override
    public void sized(long key, long value) {
        keep(key, Datum.sized(value));
    }

    @Override
    public void raw(long key, long value, int bits) {
        keep(key, Datum.raw(value, bits));
    }

    @Override
    public void text(long key, String text, long min, long max) {
        keep(key, Datum.text(text));
    }

    @Override
    public void enter(int index) {
        path.enter(index);
    }

    @Override
    public void leave() {
        path.leave();
    }
}
