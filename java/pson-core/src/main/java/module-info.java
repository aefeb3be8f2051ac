/** PSON for Java, without dependencies. */
module dev.dunnage.pson {
    exports dev.dunnage.pson;
}
