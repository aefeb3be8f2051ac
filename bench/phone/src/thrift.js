// Thrift's binary protocol, called as the code of its compiler does: fields 1 to 8 in the order of the class.

import TBinaryProtocol from "thrift/lib/nodejs/lib/thrift/binary_protocol.js";
import TBufferedTransport from "thrift/lib/nodejs/lib/thrift/buffered_transport.js";
import Thrift from "thrift/lib/nodejs/lib/thrift/thrift.js";
import { Buffer } from "buffer";
import { BINDINGS } from "./objects.js";

const { BOOL, DOUBLE, I32, STRING, STOP } = Thrift.Type;

/** How a kind of field is written and read. */
const KINDS = {
  text: { type: STRING, write: (out, value) => out.writeString(value), read: (input) => input.readString() },
  integer: { type: I32, write: (out, value) => out.writeI32(value), read: (input) => input.readI32() },
  fraction: { type: DOUBLE, write: (out, value) => out.writeDouble(value), read: (input) => input.readDouble() },
  flag: { type: BOOL, write: (out, value) => out.writeBool(value), read: (input) => input.readBool() },
  choice: { type: I32, write: (out, value) => out.writeI32(BINDINGS.indexOf(value)), read: (input) => BINDINGS[input.readI32()] },
};

export function thrift({ name, fields }) {
  const encode = (value) => {
    let bytes;
    const transport = new TBufferedTransport(undefined, (buffer) => {
      bytes = buffer;
    });
    const out = new TBinaryProtocol(transport);
    out.writeStructBegin(name);
    fields.forEach((field, i) => {
      const kind = KINDS[field.kind];
      out.writeFieldBegin(field.name, kind.type, i + 1);
      kind.write(out, value[field.name]);
      out.writeFieldEnd();
    });
    out.writeFieldStop();
    out.writeStructEnd();
    transport.flush();
    return bytes;
  };
  const decode = (bytes) => {
    let input;
    TBufferedTransport.receiver((transport) => {
      input = new TBinaryProtocol(transport);
    })(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const value = {};
    input.readStructBegin();
    for (let field = input.readFieldBegin(); field.ftype !== STOP; field = input.readFieldBegin()) {
      const { name: key, kind } = fields[field.fid - 1];
      value[key] = KINDS[kind].read(input);
      input.readFieldEnd();
    }
    input.readStructEnd();
    return value;
  };
  return { encode, decode };
}
