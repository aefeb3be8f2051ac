// The check of bytes: a CRC that is seeded with the layout's fingerprint, so that a message of another layout does not pass.
function checkOf(bytes) {
  var sum = bytes.reduce(function (register, byte) {
    var bit;
    register ^= byte << 8;
    for (bit = 0; bit < 8; bit += 1) {
      register = (register << 1 ^ (register & 0x8000 ? POLYNOMIAL : 0)) & 0xffff;
    }
    return register;
  }, SEED);
  return CHECK_SIZE === 2 ? [sum >> 8, sum % 256] : [sum >> 8];
}

// Takes the check from the end of the message; whether it is its own.
function takeCheck() {
  var found;
  if (message.length <= CHECK_SIZE) {
    part = 8 * message.length;
    fail("truncated", "the message ends before its check");
  }
  found = message.splice(message.length - CHECK_SIZE, CHECK_SIZE);
  return found.join() === checkOf(message).join();
}

// What reading makes of the message; a check that does not match is what is wrong, unless the message is cut off.
function reading(own, read) {
  var data, end = 8 * message.length;
  try {
    data = read();
  } catch (error) {
    if (error.kind === "truncated") {
      error.offset = end / 8 + CHECK_SIZE;
    }
    if (own || error.kind === "truncated") {
      throw error;
    }
  }
  if (!own) {
    part = end;
    path = [];
    fail("malformed", "the check does not match: the message is damaged, or of another schema");
  }
  return data;
}
