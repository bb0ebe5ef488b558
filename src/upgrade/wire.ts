/** Reads the wire format of SSH (RFC 4251, section 5) from bytes of a stranger. */
export interface WireReader {
  /** The next `bytes` bytes. Throws Malformed if there are fewer. */
  take(bytes: number): Buffer
  uint32(): number
  /** A string: its length as uint32, then its bytes. */
  string(): Buffer
  /** Throws Malformed if bytes are left. */
  end(): void
}

/** The bytes are not what the format requires; `message` names the fault. */
export class Malformed extends Error {}

/** Bytes → a reader that never reads beyond them. */
export function wireReader(bytes: Buffer): WireReader {
  let at = 0
  const take = (count: number) => {
    if (count > bytes.length - at) throw new Malformed('it is truncated')
    at += count
    return bytes.subarray(at - count, at)
  }
  const uint32 = () => take(4).readUInt32BE()
  return {
    take,
    uint32,
    string: () => take(uint32()),
    end: () => {
      if (at !== bytes.length) throw new Malformed('bytes follow its end')
    },
  }
}

/** The reverse of `string`. */
export function wireString(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
