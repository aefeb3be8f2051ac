// Whether two values are the same: keys in any order, -0 not 0.
function same(a, b) {
  var keys;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    return a === b && (a !== 0 || 1 / a === 1 / b);
  }
  keys = Object.keys(a);
  return isArray(a) === isArray(b) && keys.length === Object.keys(b).length && keys.every(function (key) {
    return has(b, key) && same(a[key], b[key]);
  });
}

// A fresh value, which the caller may change.
function copy(value) {
  if (value === null || typeof value !== "object") {
    return value;
  }
  if (isArray(value)) {
    return value.map(copy);
  }
  return Object.keys(value).reduce(function (result, key) {
    return define(result, key, copy(value[key]));
  }, {});
}

// One of the values; a constant is one of one.
function choice(values) {
  return {
    read: function () {
      return copy(values[takeIndex(values.length)]);
    },
    write: function (value) {
      var index = 0;
      while (index < values.length && !same(values[index], value)) {
        index += 1;
      }
      if (index === values.length) {
        fail("range", show(value) + " is not one of " + values.map(show).join(", "));
      }
      putIndex(index, values.length);
    }
  };
}
