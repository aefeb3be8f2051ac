// A file of the browser's private file system. Pages have one only over HTTPS and from localhost.

/** Opens the file that the trials write and read. `null` if the browser gives the page none. */
export async function openFile() {
  try {
    const root = await navigator.storage.getDirectory();
    return await root.getFileHandle("message", { create: true });
  } catch {
    return null;
  }
}

/** Writes `bytes` in place of what is in the file. */
export async function write(file, bytes) {
  const stream = await file.createWritable();
  await stream.write(bytes);
  await stream.close();
}

/** Reads the whole file. */
export async function read(file) {
  return new Uint8Array(await (await file.getFile()).arrayBuffer());
}
