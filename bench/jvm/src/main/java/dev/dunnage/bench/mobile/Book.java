package dev.dunnage.bench.mobile;

import org.simpleframework.xml.Element;
import org.simpleframework.xml.Root;

/** The paper's object that is heavy on text. */
@Root(name = "book")
public class Book {
    /** The paper's values, in its order. */
    public enum Type { Paperback, Hardcover, Digital }

    @Element public String title;
    @Element public String author;
    @Element public String description;
    @Element public String image;
    @Element public int numInStock;
    @Element public double price;
    @Element public Type type;
    @Element public boolean onSale;
}
