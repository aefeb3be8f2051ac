// Keywords that only say which values are valid.
function count(codecs, value) {
  return codecs.filter(function (codec) {
    return allows(codec, value);
  }).length;
}

function allOf(codecs) {
  return function (value) {
    codecs.forEach(function (codec) {
      if (!allows(codec, value)) {
        codec.write(value);
      }
    });
  };
}

function anyOf(codecs) {
  return function (value) {
    if (count(codecs, value) === 0) {
      fail("range", show(value) + " is allowed by none of anyOf");
    }
  };
}

function oneOf(codecs) {
  return function (value) {
    var n = count(codecs, value);
    if (n !== 1) {
      fail("range", show(value) + " is allowed by " + n + " of oneOf, not by one");
    }
  };
}

function not(codec) {
  return function (value) {
    if (allows(codec, value)) {
      fail("range", show(value) + " is what not excludes");
    }
  };
}

// if, then, else; null for a branch that is not there.
function when(test, then, otherwise) {
  return function (value) {
    var branch = allows(test, value) ? then : otherwise;
    if (branch) {
      allOf([branch])(value);
    }
  };
}

// Whether two values are equal, whatever the order of keys.
function equal(a, b) {
  var keys;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    return a === b;
  }
  keys = Object.keys(a);
  return isArray(a) === isArray(b) && keys.length === Object.keys(b).length && keys.every(function (key) {
    return has(b, key) && equal(a[key], b[key]);
  });
}

function unique(value) {
  value.forEach(function (a, i) {
    if (value.slice(0, i).some(function (b) { return equal(a, b); })) {
      fail("range", "duplicate element " + i);
    }
  });
}

function contains(codec, min, max) {
  return function (value) {
    var n = value.filter(function (item) {
      return allows(codec, item);
    }).length;
    if (n < min || n > max) {
      fail("range", n + " elements as contains asks for, not " + min + " to " + max);
    }
  };
}

function properties(min, max) {
  return function (value) {
    var n = Object.keys(value).length;
    if (n < min || n > max) {
      fail("range", n + " properties, not " + min + " to " + max);
    }
  };
}

function propertyNames(codec) {
  return function (value) {
    Object.keys(value).forEach(allOf([codec]));
  };
}

function dependentRequired(name, others) {
  return function (value) {
    others.forEach(function (other) {
      if (has(value, name) && !has(value, other)) {
        fail("range", "property " + show(other) + " is missing, which " + show(name) + " asks for");
      }
    });
  };
}

function dependentSchemas(name, codec) {
  return function (value) {
    if (has(value, name)) {
      allOf([codec])(value);
    }
  };
}

function absent(names) {
  return function (value) {
    names.forEach(function (name) {
      if (has(value, name)) {
        fail("range", "property " + show(name) + " may not be there");
      }
    });
  };
}

// A codec of anything, for checking alone.
var anything = { write: function () {} };
