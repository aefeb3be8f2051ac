// The codec of the vendor: tenths of a degree, half percents, percents.
function decodeUplink(input) {
  var b = input.bytes;
  return { data: { temperature: ((b[0] << 8 | b[1]) << 16 >> 16) / 10, humidity: b[2] / 2, battery: b[3] } };
}
