package dev.dunnage.packed;

/** The reason why an exported layout cannot be used: it is damaged, changed, or of a kind that this library does not have. */
public final class LayoutException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    LayoutException(String reason) {
        super(reason);
    }
}
