// The first of the codecs that has bits for the value.
function union(codecs) {
  function first(value) {
    var i = 0;
    while (i < codecs.length && !allows(codecs[i], value, true)) {
      i += 1;
    }
    return i;
  }
  return {
    read: function () {
      var start = place, index = takeIndex(codecs.length), value = codecs[index].read();
      if (first(value) < index) {
        part = start;
        fail("malformed", "a value that an earlier type carries");
      }
      return value;
    },
    write: function (value) {
      var index = first(value), mode = carrying;
      if (index === codecs.length || !carrying && !codecs.some(function (codec) {
        return allows(codec, value);
      })) {
        fail("range", show(value) + " is of none of the types");
      }
      putIndex(index, codecs.length);
      carrying = true;
      codecs[index].write(value);
      carrying = mode;
    }
  };
}
