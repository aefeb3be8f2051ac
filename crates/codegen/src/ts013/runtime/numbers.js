// Text that holds several numbers, each a codec of text. Its length counts as a whole.
function numbers(separator, items) {
  return {
    read: function () {
      var start = place, before = parts, result = items.map(function (item) {
        return item.read();
      }).join(separator);
      part = start;
      parts = before;
      countText(result);
      return result;
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
