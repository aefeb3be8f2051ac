package dev.dunnage.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.dunnage.bench.iec61850.CSG;
import dev.dunnage.bench.iec61850.MMXU;
import dev.dunnage.bench.smartgrid.Fill;
import dev.dunnage.bench.smartgrid.Payloads;
import org.junit.jupiter.api.Test;

/** The comparison finds a lost value, a changed value and a missing element, however deep. */
class DifferenceTest {
    private final MMXU expected = (MMXU) Payloads.of(MMXU.class, Fill.ALL);
    private final MMXU actual = (MMXU) Payloads.of(MMXU.class, Fill.ALL);

    @Test
    void acceptsEqualObjects() {
        assertNull(Difference.between(expected, actual));
    }

    @Test
    void findsALostValue() {
        actual.A.phsC.cVal.mag.f = null;
        assertEquals("/A/phsC/cVal/mag/f: Float became null", Difference.between(expected, actual));
    }

    @Test
    void findsAChangedValue() {
        expected.TotW.mag.f = 1.25f;
        actual.TotW.mag.f = 1.2500001f;
        assertEquals("/TotW/mag/f: 1.25 became 1.2500001", Difference.between(expected, actual));
    }

    @Test
    void findsAMissingElement() {
        CSG curve = (CSG) Payloads.of(CSG.class, Fill.ALL);
        CSG shorter = (CSG) Payloads.of(CSG.class, Fill.ALL);
        shorter.crvPts.remove(2);
        assertEquals("/crvPts: 3 elements became 2", Difference.between(curve, shorter));
    }
}
