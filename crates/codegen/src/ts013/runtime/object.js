// Sets a property even where the key is __proto__.
function define(object, key, value) {
  return Object.defineProperty(object, key, {
    value: value, enumerable: true, configurable: true, writable: true
  });
}

function optional(codec) {
  return { read: codec.read, write: codec.write, optional: true };
}

// An object of fields: [key, codec]. Others, of a codec, may be there where one is only checked.
function object(fields, others) {
  var keys = fields.map(function (field) {
    return field[0];
  });
  return {
    read: function () {
      return fields.reduce(function (result, field) {
        var codec = field[1];
        //+ leaf = codec.presence;
        if (codec.known) {
          warnings.push(field[0] + " is not in the message: it is the " + codec.known + " of the device");
        } else if (!codec.optional || takeIndex(2) === 1) {
          part = place;
          countText(field[0]);
          part = place;
          define(result, field[0], deep(field[0], codec.read));
        }
        return result;
      }, {});
    },
    write: function (value) {
      typed(typeof value === "object" && value !== null && !isArray(value), value, "an object");
      fields.forEach(function (field) {
        var key = field[0], codec = field[1], present = has(value, key);
        if (codec.optional) {
          put(present ? 1 : 0, 1);
        } else if (!present && !codec.known) {
          fail("range", "property " + show(key) + " is missing");
        }
        if (present) {
          countText(key);
          deep(key, function () {
            codec.write(value[key]);
          });
        }
      });
      Object.keys(value).forEach(function (key) {
        if (value[key] !== undefined && keys.indexOf(key) < 0) {
          if (!others) {
            fail("type", "unknown property " + show(key));
          }
          deep(key, function () {
            others.write(value[key]);
          });
        }
      });
    }
  };
}
