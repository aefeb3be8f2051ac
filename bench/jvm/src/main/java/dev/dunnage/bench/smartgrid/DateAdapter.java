package dev.dunnage.bench.smartgrid;

import jakarta.xml.bind.annotation.adapters.XmlAdapter;
import java.util.Date;

/** Makes JAXB write a time as milliseconds since 1970, as the other libraries for text do. */
public final class DateAdapter extends XmlAdapter<Long, Date> {
    @Override
    public Date unmarshal(Long milliseconds) {
        return milliseconds == null ? null : new Date(milliseconds);
    }

    @Override
    public Long marshal(Date date) {
        return date == null ? null : date.getTime();
    }
}
