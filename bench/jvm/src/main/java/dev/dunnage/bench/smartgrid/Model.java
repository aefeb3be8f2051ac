package dev.dunnage.bench.smartgrid;

import dev.dunnage.bench.iec61850.LogicalNodes;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The classes that a serializer must handle. One engine serves all of them, as in an application.
 *
 * @param logicalNodes the classes of the messages
 * @param types these classes and all generated classes that their fields use
 */
public record Model(List<Class<?>> logicalNodes, Set<Class<?>> types) {
    /** The model of some logical nodes. */
    public static Model of(List<Class<?>> logicalNodes) {
        Set<Class<?>> types = new LinkedHashSet<>();
        logicalNodes.forEach(node -> collect(node, types));
        return new Model(logicalNodes, types);
    }

    /** The model of the logical nodes with these names, or of all of them if there are none. */
    public static Model named(List<String> names) {
        return names.isEmpty() ? of(LogicalNodes.ALL) : of(names.stream().<Class<?>>map(Model::logicalNode).toList());
    }

    private static Class<?> logicalNode(String name) {
        return LogicalNodes.ALL.stream()
                .filter(node -> node.getSimpleName().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        name + ": no such logical node; the names are in bench/corpus/iec61850.json, such as MMXU"));
    }

    private static void collect(Class<?> type, Set<Class<?>> types) {
        if (!type.getPackage().equals(LogicalNodes.class.getPackage()) || !types.add(type) || type.isEnum()) {
            return;
        }
        for (Field field : type.getFields()) {
            if (Modifier.isStatic(field.getModifiers())) {
                continue;
            }
            if (field.getGenericType() instanceof ParameterizedType list) {
                collect((Class<?>) list.getActualTypeArguments()[0], types);
            } else {
                collect(field.getType(), types);
            }
        }
    }
}
