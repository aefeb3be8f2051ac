package dev.dunnage.bench.smartgrid;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.SplittableRandom;

/** Fills logical nodes with values of the kind that devices report. The values of a class are the same in every run. */
public final class Payloads {
    /** 2026-01-01T00:00:00Z, in milliseconds since 1970. */
    private static final long FIRST_TIME = 1_767_225_600_000L;

    private static final long YEAR = 365L * 24 * 3600 * 1000;
    private static final int ARRAY_LENGTH = 3;

    private final Fill fill;
    private final SplittableRandom random;

    private Payloads(Fill fill, long seed) {
        this.fill = fill;
        this.random = new SplittableRandom(seed);
    }

    /** A filled object of the class. */
    public static Object of(Class<?> logicalNode, Fill fill) {
        try {
            return new Payloads(fill, logicalNode.getSimpleName().hashCode()).object(logicalNode, true);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(logicalNode + ": not a class of the generator", e);
        }
    }

    private Object object(Class<?> type, boolean logicalNode) throws ReflectiveOperationException {
        Object object = type.getConstructor().newInstance();
        for (Field field : type.getFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && fill.includes(field.getAnnotation(Attribute.class), logicalNode)) {
                field.set(object, field.getType() == List.class ? list(field) : value(field, field.getType()));
            }
        }
        return object;
    }

    private List<Object> list(Field field) throws ReflectiveOperationException {
        Class<?> element = (Class<?>) ((ParameterizedType) field.getGenericType()).getActualTypeArguments()[0];
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < ARRAY_LENGTH; i++) {
            list.add(value(field, element));
        }
        return list;
    }

    private Object value(Field field, Class<?> type) throws ReflectiveOperationException {
        if (type.isEnum()) {
            return type.getEnumConstants()[random.nextInt(type.getEnumConstants().length)];
        }
        if (type == Boolean.class) {
            return random.nextBoolean();
        }
        if (type == Integer.class) {
            return integer(field.getAnnotation(Attribute.class).type());
        }
        if (type == Long.class) {
            return random.nextLong(1_000_000);
        }
        if (type == Float.class) {
            // Two decimals, as measurements have.
            return random.nextInt(-50_000, 50_000) / 100f;
        }
        if (type == Date.class) {
            return new Date(FIRST_TIME + random.nextLong(YEAR));
        }
        if (type == String.class) {
            return text(field);
        }
        return object(type, false);
    }

    private int integer(String type) {
        return switch (type) {
            case "Quality", "Check", "Tcmd", "Dbpos" -> random.nextInt(4);
            case "INT8" -> random.nextInt(-64, 64);
            case "INT8U", "TrgOps", "OptFlds", "SvOptFlds" -> random.nextInt(256);
            case "INT16", "INT16U" -> random.nextInt(32_768);
            default -> random.nextInt(-100_000, 100_000);
        };
    }

    private String text(Field field) {
        return switch (field.getAnnotation(Attribute.class).type()) {
            case "Octet64", "EntryID" -> "%016x".formatted(random.nextLong());
            case "ObjRef" -> "Plant%02d/MMXU1.TotW.mag".formatted(random.nextInt(100));
            case "Currency" -> "EUR";
            case "Unicode255" -> "Übersicht " + field.getName();
            default -> field.getName() + " of unit " + random.nextInt(1000);
        };
    }
}
