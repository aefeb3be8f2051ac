// null or a value.
function nullable(codec) {
  return {
    read: function () {
      var start = place, value;
      if (takeIndex(2) === 0) {
        return null;
      }
      value = codec.read();
      if (value === null) {
        part = start;
        fail("malformed", "null as something else");
      }
      return value;
    },
    write: function (value) {
      put(value === null ? 0 : 1, 1);
      if (value !== null) {
        codec.write(value);
      }
    }
  };
}
