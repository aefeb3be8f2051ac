/**
 * Payload decoder of a room sensor with channels: ID, type, value, in the style of vendors' codecs.
 *
 * Made for measurements; no device sends this.
 */
/* eslint no-redeclare: "off" */

var sensor_chns = [0x01, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d];
var history_channel = 0x20;
var status_channel = 0xff;

// Chirpstack v4
function decodeUplink(input) {
    var decoded = roomSensorDecode(input.bytes);
    return { data: decoded };
}

// Chirpstack v3
function Decode(fPort, bytes) {
    return roomSensorDecode(bytes);
}

// The Things Network
function Decoder(bytes, port) {
    return roomSensorDecode(bytes);
}

function roomSensorDecode(bytes) {
    var decoded = {};

    for (var i = 0; i < bytes.length; ) {
        var channel_id = bytes[i++];
        var channel_type = bytes[i++];

        // BATTERY
        if (channel_id === 0x01 && channel_type === 0x75) {
            decoded.battery = bytes[i];
            i += 1;
        }
        // TEMPERATURE, °C
        else if (channel_id === 0x03 && channel_type === 0x67) {
            decoded.temperature = readInt16LE(bytes.slice(i, i + 2)) / 10;
            i += 2;
        }
        // HUMIDITY, %
        else if (channel_id === 0x04 && channel_type === 0x68) {
            decoded.humidity = bytes[i] / 2;
            i += 1;
        }
        // PIR COUNT
        else if (channel_id === 0x05 && channel_type === 0x6a) {
            decoded.pir_count = readUInt16LE(bytes.slice(i, i + 2));
            i += 2;
        }
        // ILLUMINANCE, lx
        else if (channel_id === 0x06 && channel_type === 0x65) {
            decoded.illuminance = readUInt24LE(bytes.slice(i, i + 3));
            i += 3;
        }
        // CO2, ppm
        else if (channel_id === 0x07 && channel_type === 0x7d) {
            decoded.co2 = readUInt16LE(bytes.slice(i, i + 2));
            i += 2;
        }
        // TVOC
        else if (channel_id === 0x08 && channel_type === 0x7d) {
            decoded.tvoc = readUInt16LE(bytes.slice(i, i + 2)) / 100;
            i += 2;
        }
        // PRESSURE, hPa
        else if (channel_id === 0x09 && channel_type === 0x73) {
            decoded.pressure = readUInt16LE(bytes.slice(i, i + 2)) / 10;
            i += 2;
        }
        // HCHO, mg/m3
        else if (channel_id === 0x0a && channel_type === 0x7d) {
            decoded.hcho = readUInt16LE(bytes.slice(i, i + 2)) / 100;
            i += 2;
        }
        // PM2 5, ug/m3
        else if (channel_id === 0x0b && channel_type === 0x7d) {
            decoded.pm2_5 = readUInt16LE(bytes.slice(i, i + 2));
            i += 2;
        }
        // PM10, ug/m3
        else if (channel_id === 0x0c && channel_type === 0x7d) {
            decoded.pm10 = readUInt16LE(bytes.slice(i, i + 2));
            i += 2;
        }
        // O3, ppm
        else if (channel_id === 0x0d && channel_type === 0x7d) {
            decoded.o3 = readUInt16LE(bytes.slice(i, i + 2)) / 100;
            i += 2;
        }
        // STATUS OF THE DEVICE
        else if (channel_id === status_channel && channel_type === 0x01) {
            decoded.protocol_version = readProtocolVersion(bytes[i]);
            i += 1;
        } else if (channel_id === status_channel && channel_type === 0x09) {
            decoded.hardware_version = readHardwareVersion(bytes.slice(i, i + 2));
            i += 2;
        } else if (channel_id === status_channel && channel_type === 0x0a) {
            decoded.firmware_version = readFirmwareVersion(bytes.slice(i, i + 2));
            i += 2;
        } else if (channel_id === status_channel && channel_type === 0x16) {
            decoded.sn = readSerialNumber(bytes.slice(i, i + 8));
            i += 8;
        } else if (channel_id === status_channel && channel_type === 0x0f) {
            decoded.device_class = readDeviceClass(bytes[i]);
            i += 1;
        } else if (channel_id === status_channel && channel_type === 0x0b) {
            decoded.device_status = readOnOff(1);
            i += 1;
        }

        // EVENTS
        else if (channel_id === 0x0e && channel_type === 0x00) {
            decoded.pir = readPresence(bytes[i]);
            i += 1;
        } else if (channel_id === 0x0f && channel_type === 0x00) {
            decoded.door = readDoor(bytes[i]);
            i += 1;
        } else if (channel_id === 0x10 && channel_type === 0x8e) {
            decoded.buzzer = readOnOff(bytes[i]);
            i += 1;
        } else if (channel_id === 0x83 && channel_type === 0x67) {
            decoded.temperature = readInt16LE(bytes.slice(i, i + 2)) / 10;
            decoded.temperature_alarm = readTemperatureAlarm(bytes[i + 2]);
            i += 3;
        }

        // HISTORY
        else if (channel_id === history_channel && channel_type === 0xce) {
            var record = {};
            record.timestamp = readUInt32LE(bytes.slice(i, i + 4));
            record.time = new Date(record.timestamp * 1000).toISOString();
            record.temperature = readInt16LE(bytes.slice(i + 4, i + 6)) / 10;
            record.humidity = bytes[i + 6] / 2;
            record.pir = readPresence(bytes[i + 7]);
            i += 8;

            decoded.history = decoded.history || [];
            decoded.history.push(record);
        }

        // ANSWERS TO DOWNLINKS
        else if (channel_id === 0xfe || channel_id === 0xff) {
            var result = handleDownlinkResponse(channel_type, bytes, i);
            decoded = Object.assign(decoded, result.data);
            i = result.offset;
        } else {
            break;
        }
    }

    return decoded;
}

function handleDownlinkResponse(channel_type, bytes, offset) {
    var decoded = {};

    switch (channel_type) {
        case 0x03:
            decoded.report_interval = readUInt16LE(bytes.slice(offset, offset + 2));
            offset += 2;
            break;
        case 0x10:
            decoded.reboot = readYesNo(1);
            offset += 1;
            break;
        case 0x17:
            decoded.time_zone = readTimeZone(readInt16LE(bytes.slice(offset, offset + 2)));
            offset += 2;
            break;
        case 0x2e:
            decoded.led_indicator_mode = readLedIndicatorMode(bytes[offset]);
            offset += 1;
            break;
        case 0x3a:
            var num = bytes[offset];
            offset += 1;
            for (var i = 0; i < num; i++) {
                var report_schedule = {};
                report_schedule.time = bytes[offset] + ":" + bytes[offset + 1];
                report_schedule.enabled = readYesNo(bytes[offset + 2]);
                offset += 3;
                decoded.report_schedules = decoded.report_schedules || [];
                decoded.report_schedules.push(report_schedule);
            }
            break;
        case 0x68:
            decoded.history_enable = readYesNo(bytes[offset]);
            offset += 1;
            break;
        default:
            throw new Error("unknown downlink response");
    }

    return { data: decoded, offset: offset };
}

function readProtocolVersion(byte) {
    var major = (byte & 0xf0) >> 4;
    var minor = byte & 0x0f;
    return "v" + major + "." + minor;
}

function readHardwareVersion(bytes) {
    var major = (bytes[0] & 0xff).toString(16);
    var minor = (bytes[1] & 0xff) >> 4;
    return "v" + major + "." + minor;
}

function readFirmwareVersion(bytes) {
    var major = (bytes[0] & 0xff).toString(16);
    var minor = (bytes[1] & 0xff).toString(16);
    return "v" + major + "." + minor;
}

function readSerialNumber(bytes) {
    var temp = [];
    for (var idx = 0; idx < bytes.length; idx++) {
        temp.push(("0" + (bytes[idx] & 0xff).toString(16)).slice(-2));
    }
    return temp.join("");
}

function readDeviceClass(type) {
    var device_class_map = { 0: "Class A", 1: "Class B", 2: "Class C", 3: "Class CtoB" };
    return getValue(device_class_map, type);
}

function readOnOff(type) {
    var on_off_map = { 0: "off", 1: "on" };
    return getValue(on_off_map, type);
}

function readYesNo(type) {
    var yes_no_map = { 0: "no", 1: "yes" };
    return getValue(yes_no_map, type);
}

function readPresence(type) {
    var presence_map = { 0: "idle", 1: "trigger" };
    return getValue(presence_map, type);
}

function readDoor(type) {
    var door_map = { 0: "closed", 1: "open" };
    return getValue(door_map, type);
}

function readTemperatureAlarm(type) {
    var alarm_map = { 0: "release", 1: "threshold", 2: "mutation" };
    return getValue(alarm_map, type);
}

function readLedIndicatorMode(type) {
    var led_map = { 0: "off", 2: "blink" };
    return getValue(led_map, type);
}

function readTimeZone(minutes) {
    var sign = minutes < 0 ? "-" : "+";
    var hours = Math.floor(Math.abs(minutes) / 60);
    return "UTC" + sign + hours + ":" + ("0" + (Math.abs(minutes) % 60)).slice(-2);
}

function readUInt16LE(bytes) {
    var value = (bytes[1] << 8) + bytes[0];
    return value & 0xffff;
}

function readInt16LE(bytes) {
    var ref = readUInt16LE(bytes);
    return ref > 0x7fff ? ref - 0x10000 : ref;
}

function readUInt24LE(bytes) {
    var value = (bytes[2] << 16) + (bytes[1] << 8) + bytes[0];
    return value & 0xffffff;
}

function readUInt32LE(bytes) {
    var value = (bytes[3] << 24) + (bytes[2] << 16) + (bytes[1] << 8) + bytes[0];
    return (value & 0xffffffff) >>> 0;
}

function getValue(map, key) {
    if (typeof map !== "object") return "unknown";
    if (key in map) return map[key];
    return "unknown";
}

if (!Object.assign) {
    Object.defineProperty(Object, "assign", {
        enumerable: false,
        configurable: true,
        writable: true,
        value: function (target) {
            for (var i = 1; i < arguments.length; i++) {
                for (var key in arguments[i]) target[key] = arguments[i][key];
            }
            return target;
        },
    });
}
