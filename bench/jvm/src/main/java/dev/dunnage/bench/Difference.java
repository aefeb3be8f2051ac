package dev.dunnage.bench;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;

/** Compares objects field by field. */
public final class Difference {
    private Difference() {}

    /** The path of the first field that differs with both values, or null if the objects are equal. */
    public static String between(Object expected, Object actual) {
        try {
            return between("", expected, actual);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("the classes of the benchmarks have public fields", e);
        }
    }

    private static String between(String path, Object expected, Object actual) throws IllegalAccessException {
        if (expected == actual) {
            return null;
        }
        if (expected == null || actual == null) {
            return path + ": " + describe(expected) + " became " + describe(actual);
        }
        if (expected instanceof List<?> list && actual instanceof List<?> other) {
            return betweenLists(path, list, other);
        }
        if (expected.getClass() != actual.getClass() || isLeaf(expected.getClass())) {
            return expected.equals(actual) ? null : path + ": " + expected + " became " + actual;
        }
        for (Field field : expected.getClass().getFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                String difference = between(path + "/" + field.getName(), field.get(expected), field.get(actual));
                if (difference != null) {
                    return difference;
                }
            }
        }
        return null;
    }

    private static String betweenLists(String path, List<?> expected, List<?> actual) throws IllegalAccessException {
        if (expected.size() != actual.size()) {
            return path + ": " + expected.size() + " elements became " + actual.size();
        }
        for (int i = 0; i < expected.size(); i++) {
            String difference = between(path + "/" + i, expected.get(i), actual.get(i));
            if (difference != null) {
                return difference;
            }
        }
        return null;
    }

    private static boolean isLeaf(Class<?> type) {
        return type.isEnum() || type.getName().startsWith("java.");
    }

    private static String describe(Object value) {
        return value == null ? "null" : value.getClass().getSimpleName();
    }
}
