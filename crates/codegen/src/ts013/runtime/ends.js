function begin() {
  message = [];
  place = 0;
  part = 0;
  path = [];
  parts = 1;
  warnings = [];
  carrying = false;
  //+ coding = false;
}

// The message behind the slot byte.
function readLayout() {
  var data, end;
  //+ if (coding) {
  //+   beginCoding();
  //+ }
  data = LAYOUT.read();
  //+ if (coding) {
  //+   endCoding();
  //+ }
  part = place;
  if (take((8 - place % 8) % 8) !== 0) {
    fail("malformed", "fill bits that are not 0");
  }
  part = place;
  end = place / 8;
  if (end < message.length) {
    fail("malformed", message.length - end + " bytes behind the message");
  }
  // What reads can still break what the schema says of the values.
  part = 0;
  parts = 1;
  message = [SLOT];
  place = 8;
  LAYOUT.write(data);
  return data;
}

//@ // The port of the message that is read: its slot, which is in front of its bytes while they are read and written.
//@ var port;
//@
function decode(bytes) {
  var i;
  begin();
  //@ if (port !== SLOT) {
  //@   fail("range", "port " + port + ", not " + SLOT);
  //@ }
  //@ message.push(SLOT);
  typed(typeof bytes === "object" && bytes !== null && whole(bytes.length), bytes, "bytes");
  if (bytes.length > 1048576) {
    fail("limit", "more than 1048576 bytes");
  }
  for (i = 0; i < bytes.length; i += 1) {
    typed(whole(bytes[i]) && bytes[i] >= 0 && bytes[i] < 256, bytes[i], "a byte");
    message.push(bytes[i]);
  }
  i = take(8);
  //+ // A delta needs the message that it refers to, which the gateway has.
  //+ if (i >> 6 === 2) {
  //+   return { dunnage: "delta" };
  //+ }
  //+ if (i >> 6 === 1) {
  //+   coding = true;
  //+   i -= 64;
  //+ }
  if (i >= 64 || i === 0) {
    fail("malformed", i === 0 ? "slot 0" : "mode " + (i >> 6) + ", which is reserved");
  }
  if (i !== SLOT) {
    fail("range", "slot " + i + ", not " + SLOT);
  }
  return READING;
}

function encode(data) {
  begin();
  put(SLOT, 8);
  LAYOUT.write(data);
  return WRITTEN;
}

// What action makes of the input's member, or an error: "kind: reason at byte 3" when decoding, "at /pointer" when encoding.
function attempt(input, member, action, result, where) {
  try {
    //@ port = input.fPort;
    return result(action(input[member]));
  } catch (error) {
    return {
      warnings: warnings,
      errors: [error && error.kind ? error.kind + ": " + error.reason + where(error) : "type: " + error]
    };
  }
}

function atByte(error) {
  //@ error.offset = Math.max(error.offset - 1, 0);
  return " at byte " + error.offset + (error.pointer ? ", " + error.pointer : "");
}

function atPointer(error) {
  return error.pointer ? " at " + error.pointer : "";
}

function decodeUplink(input) {
  return attempt(input, "bytes", decode, function (data) {
    return { data: data, warnings: warnings, errors: [] };
  }, atByte);
}

function decodeDownlink(input) {
  return decodeUplink(input);
}

function encodeDownlink(input) {
  return attempt(input, "data", encode, function (bytes) {
    return { bytes: bytes, fPort: SLOT, warnings: warnings, errors: [] };
  }, atPointer);
}
