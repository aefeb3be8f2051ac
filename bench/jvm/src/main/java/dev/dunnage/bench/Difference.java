package dev.dunnage.bench;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Objects;

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
        if (expected == null || actual == null || expected.getClass() != actual.getClass()) {
            boolean lists = expected instanceof List && actual instanceof List;
            if (!lists) {
                return expected == actual ? null : path + ": " + describe(expected) + " became " + describe(actual);
            }
        }
        if (expected instanceof List<?> list) {
            return betweenLists(path, list, (List<?>) actual);
        }
        if (isLeaf(expected.getClass())) {
            return Objects.equals(expected, actual) ? null : path + ": " + expected + " became " + actual;
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
