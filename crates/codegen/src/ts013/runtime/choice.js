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

// Counts the parts of a value that the schema contains.
function countKnown(value) {
  if (typeof value === "string") {
    countText(value);
  } else if (value !== null && typeof value === "object") {
    Object.keys(value).forEach(function (key) {
      countValues(1);
      if (!isArray(value)) {
        countText(key);
      }
      countKnown(value[key]);
    });
  }
}

// One of the values; a constant is one of one.
function choice(values) {
  return {
    read: function () {
      var value = values[takeIndex(values.length)];
      part = place;
      countKnown(value);
      return copy(value);
    },
    write: function (value) {
      var index = 0;
      while (index < values.length && !same(values[index], value)) {
        index += 1;
      }
      if (index === values.length) {
        fail("range", show(value) + " is not one of " + values.map(show).join(", "));
      }
      countKnown(value);
      putIndex(index, values.length);
    }
  };
}
