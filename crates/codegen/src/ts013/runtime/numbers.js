// Text that holds several numbers, each a codec of text.
function numbers(separator, items) {
  return {
    read: function () {
      return items.map(function (item) {
        return item.read();
      }).join(separator);
    },
    write: function (value) {
      var texts;
      typed(typeof value === "string", value, "text");
      texts = value.split(separator);
      if (texts.length !== items.length) {
        fail("range", show(value) + " holds " + texts.length + " numbers, not " + items.length);
      }
      items.forEach(function (item, i) {
        item.write(texts[i]);
      });
    }
  };
}
