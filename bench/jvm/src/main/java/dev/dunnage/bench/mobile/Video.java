package dev.dunnage.bench.mobile;

import org.simpleframework.xml.Element;
import org.simpleframework.xml.Root;

/** The paper's object that is heavy on numbers. */
@Root(name = "video")
public class Video {
    @Element public String uri;
    @Element public String title;
    @Element public String format;
    @Element public int height;
    @Element public int width;
    @Element public int length;
    @Element public int views;
    @Element public boolean enabled;
}
