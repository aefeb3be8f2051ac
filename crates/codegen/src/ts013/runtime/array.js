// An array of min to max elements; items are the codecs of the first ones, rest that of the others.
function array(items, rest, min, max) {
  function codec(i) {
    return i < items.length ? items[i] : rest;
  }
  return {
    read: function () {
      var length = min + takeIndex(max - min + 1), values = [];
      while (values.length < length) {
        part = place;
        values.push(deep(values.length, codec(values.length).read));
      }
      return values;
    },
    write: function (value) {
      var i;
      typed(isArray(value), value, "an array");
      if (value.length < min || value.length > max) {
        fail("range", "an array of " + value.length + ", not " + min + " to " + max);
      }
      putIndex(value.length - min, max - min + 1);
      for (i = 0; i < value.length; i += 1) {
        deep(i, function () {
          codec(i).write(value[i]);
        });
      }
    }
  };
}
