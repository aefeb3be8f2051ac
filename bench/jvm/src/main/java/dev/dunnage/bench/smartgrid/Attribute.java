package dev.dunnage.bench.smartgrid;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The definition of a field of a generated class in the standard. The libraries do not read it; {@link Payloads} does. */
@Target(ElementType.FIELD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Attribute {
    /** The type's name in the standard, such as INT8U. */
    String type();

    /** M for mandatory, C for conditional, O for optional. */
    char presence();

    /** The functional constraint, such as ST; empty for a data object and a member of a constructed type. */
    String constraint();
}
