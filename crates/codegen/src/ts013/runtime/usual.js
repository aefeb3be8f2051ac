// The same numbers, of which those from first to last are expected: the others come behind an escape.
function usual(all, first, last, step) {
  var count = (last - first) / step + 1;
  return {
    min: all.min,
    max: all.max,
    read: function () {
      //+ if (coding) {
      //+   return all.read();
      //+ }
      var index = takeIndex(count + 1), start, n;
      if (index < count) {
        return first + step * index;
      }
      start = place;
      n = all.read();
      if (n >= first && n <= last) {
        part = start;
        fail("malformed", "an escape before a usual number");
      }
      return n;
    },
    write: function (n, value, shown) {
      if (n >= first && n <= last && n % step === 0) {
        putIndex((n - first) / step, count + 1);
      } else {
        putIndex(count, count + 1);
        all.write(n, value, shown);
      }
    }
  };
}
