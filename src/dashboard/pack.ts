/** A file for browsers in both compressed forms. The uncompressed form is not stored. */
export interface PackedFile {
  /** Name below `/dashboard/assets/`: `index.html`, `main-1a2b3c.js`. */
  name: string
  br: Uint8Array
  gzip: Uint8Array
}

/** Files → one byte array: the length of an index (32 bits, big-endian), the index as JSON, then the
 *  bytes of each file. */
export function pack(files: readonly PackedFile[]): Uint8Array {
  const index = new TextEncoder().encode(
    JSON.stringify(files.map(({ name, br, gzip }) => [name, br.length, gzip.length])),
  )
  const head = new Uint8Array(4)
  new DataView(head.buffer).setUint32(0, index.length)
  return Buffer.concat([head, index, ...files.flatMap(({ br, gzip }) => [br, gzip])])
}

/** Output of `pack` → the files, as views of the same bytes. Throws RangeError or SyntaxError for other bytes. */
export function unpack(bytes: Uint8Array): PackedFile[] {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  const index: [string, number, number][] = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)))
  let at = 4 + length
  const take = (size: number) => {
    const part = bytes.subarray(at, at + size)
    at += size
    return part
  }
  return index.map(([name, br, gzip]) => ({ name, br: take(br), gzip: take(gzip) }))
}
