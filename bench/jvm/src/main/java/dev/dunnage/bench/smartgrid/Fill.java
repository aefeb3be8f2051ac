package dev.dunnage.bench.smartgrid;

/** The fields of a logical node that have a value. */
public enum Fill {
    /** The mandatory data objects, with their mandatory attributes. */
    MANDATORY,
    /** All data objects; of their attributes the mandatory ones and the conditional ones that carry the process: status, measured value, setting. */
    CORE,
    /** All data objects with all attributes. */
    ALL;

    /** Functional constraints of the process: status, measurement, setting; empty for data objects and members. */
    private static final String PROCESS = "ST MX SP";

    boolean includes(Attribute attribute, boolean ofLogicalNode) {
        boolean mandatory = attribute.presence() == 'M';
        return switch (this) {
            case MANDATORY -> mandatory;
            case CORE -> ofLogicalNode || mandatory || (attribute.presence() == 'C' && PROCESS.contains(attribute.constraint()));
            case ALL -> true;
        };
    }
}
