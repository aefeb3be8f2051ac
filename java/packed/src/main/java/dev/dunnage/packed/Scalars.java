package dev.dunnage.packed;

import java.util.List;

/** The nodes whose values the layout lists or the receiver knows. */
final class Scalars {
    private Scalars() {}

    /** A constant, which takes no bits. */
    static final class Constant extends Node {
        private final Object only;

        Constant(int id, Object only) {
            super(id);
            this.only = only;
        }

        @Override
        void write(Object value, Writing to, int nesting) {
            if (!Values.same(only, value)) {
                throw range(Describe.brief(value) + " is not " + Describe.shown(only));
            }
            to.limits.takeKnown(value, 0);
        }

        @Override
        Object read(Reading from, int nesting) {
            from.limits.takeKnown(only, from.source.offset());
            return only;
        }

        @Override
        boolean carriesThis(Object value, Limits limits) {
            return Values.same(only, value);
        }

        @Override
        boolean lists(Object value) {
            return Values.isLike(only, value);
        }

        @Override
        long maxBits() {
            return 0;
        }

        @Override
        void addLeaves(Leaves leaves) {}
    }

    /** A boolean, which takes a bit. */
    static final class Bool extends Node {
        Bool(int id) {
            super(id);
        }

        @Override
        void write(Object value, Writing to, int nesting) {
            if (!(value instanceof Boolean)) {
                throw Values.wrongType("a boolean", value);
            }
            to.sink.index(Part.key(id, Part.VALUE), (Boolean) value ? 1 : 0, 2);
        }

        @Override
        Object read(Reading from, int nesting) {
            return from.source.index(Part.key(id, Part.VALUE), 2) == 1;
        }

        @Override
        boolean carriesThis(Object value, Limits limits) {
            return value instanceof Boolean;
        }

        @Override
        long maxBits() {
            return 1;
        }

        @Override
        void addLeaves(Leaves leaves) {
            leaves.index(Part.key(id, Part.VALUE), 2);
        }
    }

    /** One of the listed values, written as its index. */
    static final class Choice extends Node {
        private final List<Object> values;

        Choice(int id, List<Object> values) {
            super(id);
            this.values = values;
        }

        private int find(Object value) {
            for (int i = 0; i < values.size(); i++) {
                if (Values.same(values.get(i), value)) {
                    return i;
                }
            }
            return -1;
        }

        @Override
        void write(Object value, Writing to, int nesting) {
            int at = find(value);
            if (at < 0) {
                throw range(Describe.brief(value) + " is none of " + Describe.listed(values));
            }
            to.limits.takeKnown(value, 0);
            to.sink.index(Part.key(id, Part.VALUE), at, values.size());
        }

        @Override
        Object read(Reading from, int nesting) {
            Object value = values.get((int) from.source.index(Part.key(id, Part.VALUE), values.size()));
            from.limits.takeKnown(value, from.source.offset());
            return value;
        }

        @Override
        boolean carriesThis(Object value, Limits limits) {
            limits.charge(values.size());
            return find(value) >= 0;
        }

        @Override
        boolean lists(Object value) {
            return values.stream().anyMatch(one -> Values.isLike(one, value));
        }

        @Override
        long maxBits() {
            return Part.indexBits(values.size());
        }

        @Override
        void addLeaves(Leaves leaves) {
            leaves.index(Part.key(id, Part.VALUE), values.size());
        }
    }

    /** Text that the receiver knows, which takes no bits. */
    static final class Known extends Node {
        /** The name of the ID of the device. */
        static final String DEVICE = "device";

        private final String name;

        Known(int id, String name) {
            super(id);
            this.name = name;
        }

        @Override
        void write(Object value, Writing to, int nesting) {
            if (!(value instanceof String)) {
                throw Values.wrongType("a string", value);
            }
            to.limits.takeText((String) value, 0);
        }

        @Override
        Object read(Reading from, int nesting) {
            String text = from.known.get(name);
            if (text == null) {
                String what = name.equals(DEVICE) ? "ID" : '"' + name + '"';
                String reason = "the " + what + " of the device that sent the message is not known";
                throw new PackedException(Kind.TYPE, from.source.offset(), reason);
            }
            from.limits.takeText(text, from.source.offset());
            return text;
        }

        @Override
        boolean carriesThis(Object value, Limits limits) {
            return value instanceof String;
        }

        @Override
        long maxBits() {
            return 0;
        }

        @Override
        void addLeaves(Leaves leaves) {}
    }
}
