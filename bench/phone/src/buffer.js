// Thrift's library takes Node's global Buffer.

export { Buffer } from "buffer";
