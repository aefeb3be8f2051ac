// The first of the codecs that allows the value.
function union(codecs) {
  function first(value) {
    var i = 0;
    while (i < codecs.length && !allows(codecs[i], value)) {
      i += 1;
    }
    return i;
  }
  return {
    read: function () {
      var start = place, index = takeIndex(codecs.length), value = codecs[index].read(), found = first(value);
      if (found !== index) {
        part = start;
        if (found < index) {
          fail("malformed", "a value that an earlier type allows");
        }
        fail("range", "a value that its type does not allow");
      }
      return value;
    },
    write: function (value) {
      var index = first(value);
      if (index === codecs.length) {
        fail("range", show(value) + " is of none of the types");
      }
      putIndex(index, codecs.length);
      codecs[index].write(value);
    }
  };
}
