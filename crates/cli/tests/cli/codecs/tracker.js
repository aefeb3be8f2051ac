// A codec in the style of vendors' codecs; no device sends this. Port 1: fixed fields. Port 2: channels of ID, type and value. Port 3: a history.

var STATES = { 0: 'closed', 1: 'open', 2: 'tilted', 7: 'tampered' };

function int16(bytes, at) {
  var value = (bytes[at] << 8) | bytes[at + 1];
  return value > 0x7fff ? value - 0x10000 : value;
}

function uint16le(bytes, at) {
  return bytes[at] | (bytes[at + 1] << 8);
}

function fixed(bytes) {
  var status = bytes[6];
  var data = {
    type: 'report',
    temperature: int16(bytes, 0) / 10,
    pressure: uint16le(bytes, 2) / 100,
    voltage: (bytes[4] + 200) * 0.01,
    state: STATES[bytes[5]] || 'unknown',
    charging: (status & 1) === 1,
    alarms: { low_battery: (status >> 1) & 1, leak: (status >> 2) & 1, level: status >> 6 },
  };
  // Optional: with a position.
  if (bytes.length > 7) {
    data.latitude = (((bytes[7] << 24) | (bytes[8] << 16) | (bytes[9] << 8) | bytes[10]) / 1000000);
    data.satellites = bytes[11];
  }
  return data;
}

function channels(bytes) {
  var data = { type: 'channels' };
  for (var i = 0; i < bytes.length; ) {
    var id = bytes[i++];
    var type = bytes[i++];
    if (id === 0x01 && type === 0x75) data.battery = bytes[i++];
    else if (id === 0x03 && type === 0x67) {
      data.temperature = int16(bytes, i) / 10;
      i += 2;
    } else if (id === 0x04 && type === 0x68) data.humidity = bytes[i++] / 2;
    else if (id === 0x05 && type === 0x00) data.state = STATES[bytes[i++]] || 'unknown';
    else if (id === 0x06 && type === 0xcb) data.pulses = uint16le(bytes, i) + uint16le(bytes, i + 2) * 65536, (i += 4);
    else if (id === 0x09 && type === 0x01) data.co2 = uint16le(bytes, i), (i += 2);
    else throw new Error('unknown channel ' + id);
  }
  return data;
}

function decodeUplink(input) {
  var bytes = input.bytes;
  switch (input.fPort) {
    case 1:
      if (bytes.length < 7) return { errors: ['too short'] };
      if (bytes[5] === 0xff) return { data: { state: 'broken sensor' }, warnings: ['the sensor is broken'] };
      return { data: fixed(bytes) };
    case 2:
      return { data: channels(bytes) };
    case 3:
      var history = [];
      for (var i = 0; i + 1 < bytes.length; i += 2) history.push({ minutes: bytes[i], level: bytes[i + 1] });
      return { data: { type: 'history', history: history } };
    default:
      return { errors: ['unknown port'] };
  }
}
