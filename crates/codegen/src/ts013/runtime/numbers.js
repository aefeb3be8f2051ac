// Text that holds several numbers, each a codec of text. It counts as one text.
function numbers(separator, items) {
  return {
    read: function () {
      var before = parts;
      return counted(function () {
        var text = items.map(function (item) {
          return item.read();
        }).join(separator);
        parts = before;
        return text;
      });
    },
    write: function (value) {
      var texts, before = parts;
      typed(typeof value === "string", value, "text");
      texts = value.split(separator);
      if (texts.length !== items.length) {
        fail("range", show(value) + " holds " + texts.length + " numbers, not " + items.length);
      }
      items.forEach(function (item, i) {
        item.write(texts[i]);
      });
      parts = before;
      countText(value);
    }
  };
}
