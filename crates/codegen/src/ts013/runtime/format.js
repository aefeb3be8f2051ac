// Text of the known formats.
function isDay(text) {
  var n = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  return n !== null && isDate(Number(n[1]), Number(n[2]), Number(n[3]));
}

// A leap second is the last of a day in UTC.
function isClock(text) {
  var n = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text), east;
  if (n === null || n[1] > 23 || n[2] > 59 || n[3] > 60 || n[5] > 23 || n[6] > 59) {
    return false;
  }
  east = n[4] ? (60 * n[5] + Number(n[6])) * (n[4] === "-" ? -1 : 1) : 0;
  return n[3] < 60 || (60 * n[1] + Number(n[2]) - east + 1440) % 1440 === 1439;
}

function isIpv4(text) {
  var parts = text.split(".");
  return parts.length === 4 && parts.every(function (part) {
    return /^(?:0|[1-9]\d{0,2})$/.test(part) && part < 256;
  });
}

function isIpv6(text) {
  var halves = text.replace(/(^|:)([\d.]+\.\d+)$/, function (_, colon, quad) {
    return isIpv4(quad) ? colon + "0:0" : "-";
  }).split("::");
  var groups = halves.reduce(function (all, half) {
    return all.concat(half === "" ? [] : half.split(":"));
  }, []);
  return halves.length < 3 && (halves.length === 2 ? groups.length < 8 : groups.length === 8) && groups.every(function (group) {
    return /^[\dA-Fa-f]{1,4}$/.test(group);
  });
}

var FORMATS = {
  "date-time": function (text) {
    return isDay(text.slice(0, 10)) && /^[Tt]$/.test(text.charAt(10)) && isClock(text.slice(11));
  },
  "date": isDay,
  "time": isClock,
  "duration": function (text) {
    return /^P(?:\d+W|(?=\d|T\d)(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/.test(text);
  },
  "uuid": function (text) {
    return /^[\dA-Fa-f]{8}-(?:[\dA-Fa-f]{4}-){3}[\dA-Fa-f]{12}$/.test(text);
  },
  "ipv4": isIpv4,
  "ipv6": isIpv6
};

function format(name) {
  return function (value) {
    if (!FORMATS[name](value)) {
      fail("range", show(value) + " is not of the format " + name);
    }
  };
}
