import { inflateRawSync } from 'node:zlib'
import { bytesOfBase64 } from './transfer-decoding.ts'

/** Limits on unpacking an attached report. */
const UNPACK_LIMITS = {
  /** Of each layer. The largest reports of real reporters have some megabytes. */
  bytes: 10_000_000,
  /** For example gzip in a zip, in base64 without its header field. */
  layers: 3,
  /** Entries of a zip that are looked at; further ones are refused. */
  zipEntries: 20,
}

/** Why an attachment is no readable report. The message is one line of ASCII. */
export class DamagedReport extends Error {}

/** Whether the bytes begin like a container of reports: gzip (RFC 1952), zip, or one of them in base64. */
export function isPacked(bytes: Uint8Array): boolean {
  return layerOf(bytes) !== null
}

/** Attached bytes → the innermost content; the bytes themselves if they are in no container. Only the bytes decide: the
 *  names and types that reporters give are often wrong. A zip must contain exactly one file beside folders and
 *  files of file managers; checksums are ignored, and so are bytes behind the end of a gzip. Throws DamagedReport beyond
 *  UNPACK_LIMITS, for encrypted entries, and for damaged containers. */
export function unpackReport(packed: Uint8Array): Uint8Array {
  let bytes = packed
  for (let layer = 0; layer <= UNPACK_LIMITS.layers; layer++) {
    const unpack = layerOf(bytes)
    if (unpack === null) return bytes
    if (layer < UNPACK_LIMITS.layers) bytes = unpack(bytes)
  }
  throw new DamagedReport('more than three layers of compression')
}

function layerOf(bytes: Uint8Array): ((bytes: Uint8Array) => Uint8Array) | null {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return ofGzip
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 100)).toString('latin1')
  if (start.startsWith('PK\x03\x04')) return ofZip
  return /^\s*(?:H4sI|UEsDB)/.test(start) ? bytesOfBase64 : null
}

/** RFC 1952 §2.3 */
function ofGzip(bytes: Uint8Array): Uint8Array {
  const flags = bytes[3] ?? 0
  let at = 10
  if (flags & 4) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0) // extra field
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue // name, comment
    const end = bytes.indexOf(0, at)
    if (end < 0) throw new DamagedReport('the gzip header has no end')
    at = end + 1
  }
  if (flags & 2) at += 2 // header checksum
  if (bytes[2] !== 8 || at >= bytes.length) throw new DamagedReport('the gzip header is damaged')
  return inflated(bytes.subarray(at))
}

/** The central directory counts: sizes in local headers may be missing. PKWARE APPNOTE 6.3.10 §4.3 */
function ofZip(bytes: Uint8Array): Uint8Array {
  const zip = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entry = onlyEntry(zip)
  const { method, flags, packedBytes, headerAt } = entry
  if (flags & 1) throw new DamagedReport('the zip is encrypted')
  if (headerAt + 30 > zip.length || zip.readUInt32LE(headerAt) !== LOCAL_HEADER) {
    throw new DamagedReport('the zip has no entry where its directory says')
  }
  const from = headerAt + 30 + zip.readUInt16LE(headerAt + 26) + zip.readUInt16LE(headerAt + 28)
  if (from + packedBytes > zip.length) throw new DamagedReport('the zip is truncated')
  const packed = zip.subarray(from, from + packedBytes)
  if (method === DEFLATED) return inflated(packed)
  if (method !== STORED) throw new DamagedReport(`the zip uses compression method ${method}`)
  if (packed.length > UNPACK_LIMITS.bytes) throw tooLarge()
  return packed
}

function onlyEntry(zip: Buffer): ZipEntry {
  // The comment behind the end record has at most 65,535 bytes.
  const endAt = zip.lastIndexOf(END_RECORD)
  if (endAt < 0 || endAt + 22 > zip.length || zip.length - endAt > 65_535 + 22) {
    throw new DamagedReport('the zip has no directory')
  }
  const count = zip.readUInt16LE(endAt + 10)
  if (count > UNPACK_LIMITS.zipEntries) throw new DamagedReport(`the zip has ${count} entries`)
  let at = zip.readUInt32LE(endAt + 16)
  const files: ZipEntry[] = []
  for (let n = 0; n < count; n++) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== DIRECTORY_ENTRY) {
      throw new DamagedReport('the directory of the zip is damaged')
    }
    const nameBytes = zip.readUInt16LE(at + 28)
    const name = zip.toString('latin1', at + 46, at + 46 + nameBytes)
    if (!OF_FILE_MANAGERS.test(name)) {
      files.push({
        flags: zip.readUInt16LE(at + 8),
        method: zip.readUInt16LE(at + 10),
        packedBytes: zip.readUInt32LE(at + 20),
        headerAt: zip.readUInt32LE(at + 42),
      })
    }
    at += 46 + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  const [only, ...others] = files
  if (only === undefined || others.length > 0)
    throw new DamagedReport(`the zip has ${files.length} files instead of one`)
  return only
}

interface ZipEntry {
  flags: number
  method: number
  packedBytes: number
  headerAt: number
}

/** Folders, and files such as `.DS_Store` beside the report. */
const OF_FILE_MANAGERS = /\/$|^__MACOSX\/|(?:^|\/)(?:\.[^/]*|Thumbs\.db|desktop\.ini)$/i
const LOCAL_HEADER = 0x04034b50
const DIRECTORY_ENTRY = 0x02014b50
const END_RECORD = Buffer.from([0x50, 0x4b, 5, 6])
const [STORED, DEFLATED] = [0, 8]

function inflated(packed: Uint8Array): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: UNPACK_LIMITS.bytes })
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw new DamagedReport('the compressed data is damaged or truncated')
  }
}

const tooLarge = () => new DamagedReport('the report unpacks to more than 10 MB')
