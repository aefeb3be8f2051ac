package dev.dunnage.packed;

import java.util.HashMap;
import java.util.Map;

/** The layouts of a receiver by their slots, for a device or a group of devices. It does not change; threads may share it. */
public final class Layouts {
    private final Map<Integer, Layout> bySlot = new HashMap<>();

    private Layouts() {}

    /**
     * Creates a table of layouts.
     *
     * @param layouts the layouts, each with a slot of its own
     * @return the table
     * @throws LayoutException if two layouts have the same slot
     */
    public static Layouts of(Layout... layouts) {
        Layouts table = new Layouts();
        for (Layout layout : layouts) {
            if (table.bySlot.put(layout.slot(), layout) != null) {
                throw new LayoutException("two layouts with the slot " + layout.slot());
            }
        }
        return table;
    }

    /**
     * Decodes a message that begins with a slot byte.
     *
     * @param message the bytes
     * @param known the texts of {@code x-dunnage-known} by their names; the ID of the device is {@code device}
     * @return the value, as {@link Layout#decode(byte[])} returns it
     * @throws PackedException if the bytes are not a message of one of the layouts; {@code range} if its slot has no layout
     */
    public Object decode(byte[] message, Map<String, String> known) {
        boolean hasStatistics = bySlot.values().stream().anyMatch(Layout::hasStatistics);
        int slot = Layout.slotOf(message, hasStatistics);
        Layout layout = bySlot.get(slot);
        if (layout == null || !layout.hasSlotByte()) {
            throw new PackedException(Kind.RANGE, 0, "slot " + slot + " has no layout");
        }
        return layout.decode(message, known);
    }

    /**
     * Decodes a message that arrived on a port of its link. If the port is the slot of a layout without a slot byte, the message has that
     * layout; otherwise it begins with a slot byte.
     *
     * @param message the bytes
     * @param port the port, on LoRaWAN the FPort
     * @param known the texts of {@code x-dunnage-known} by their names; the ID of the device is {@code device}
     * @return the value, as {@link Layout#decode(byte[])} returns it
     * @throws PackedException if the bytes are not a message of one of the layouts
     */
    public Object decode(byte[] message, int port, Map<String, String> known) {
        Layout layout = bySlot.get(port);
        return layout != null && !layout.hasSlotByte() ? layout.decode(message, known) : decode(message, known);
    }
}
