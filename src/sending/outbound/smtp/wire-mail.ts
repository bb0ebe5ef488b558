import { isAscii, isUtf8 } from 'node:buffer'

/** A mail in its form after DATA, and the facts that MAIL FROM must announce. */
export interface WireMail {
  /** Dot-stuffed, ending in CRLF `.` CRLF. */
  bytes: Buffer
  /** Size of the mail for RFC 1870, without dot-stuffing and final dot. */
  sizeBytes: number
  /** Contains bytes above 127: needs 8BITMIME (RFC 6152). */
  isEightBit: boolean
  /** The header section is UTF-8 beyond ASCII: announced as SMTPUTF8 where offered (RFC 6531). */
  hasUtf8Headers: boolean
  /** In its 7-bit form: what is still above 127 cannot be encoded, and goes to a server without 8BITMIME as it is. */
  isSevenBitForm: boolean
}

/** Parts of a mail (signature headers, then the composed mail) → its wire form, in one pass and one allocation for
 *  clean mail, which ours is. No byte sequence can end the mail early or be read as two mails by a lenient server: a
 *  bare CR or LF becomes CRLF, NUL is removed, a missing final CRLF is added, leading dots are doubled (RFC 5321
 *  §2.3.8, §4.5.2). A repair may break a signature but never harms a receiver. Never throws. */
export function toWire(parts: readonly Uint8Array[], isSevenBitForm = false): WireMail {
  const sizeBytes = parts.reduce((sum, part) => sum + part.byteLength, 0)
  const bytes = Buffer.allocUnsafe(sizeBytes + END.byteLength)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  bytes.set(END, at)
  const isEightBit = !isAscii(bytes)
  const headers = bytes.subarray(0, isEightBit ? headerEnd(bytes) : 0)
  const hasUtf8Headers = !isAscii(headers) && isUtf8(headers)
  const rest = { isEightBit, hasUtf8Headers, isSevenBitForm }

  const fault = firstFault(bytes.subarray(0, sizeBytes))
  if (fault === 'none' && endsInCrlf(bytes, sizeBytes)) return { bytes, sizeBytes, ...rest }
  const clean = fault === 'dirty' ? repaired(bytes.subarray(0, sizeBytes)) : bytes.subarray(0, sizeBytes)
  const ended = endsInCrlf(clean, clean.byteLength) ? clean : Buffer.concat([clean, CRLF])
  return { bytes: Buffer.concat([stuffed(ended), END]), sizeBytes: ended.byteLength, ...rest }
}

/** The mail without dot-stuffing and final dot, as BDAT takes it: `sizeBytes` bytes. */
export function unstuffed({ bytes, sizeBytes }: WireMail): Buffer {
  const stuffedBytes = bytes.subarray(0, bytes.byteLength - END.byteLength)
  if (stuffedBytes.byteLength === sizeBytes) return stuffedBytes
  const text = stuffedBytes.toString('latin1')
  return Buffer.from((text.startsWith('.') ? text.slice(1) : text).replaceAll('\r\n..', '\r\n.'), 'latin1')
}

const END = Buffer.from('.\r\n')
const CRLF = Buffer.from('\r\n')
const CR = 13
const LF = 10
const DOT = 46

function headerEnd(bytes: Buffer): number {
  const end = bytes.indexOf('\r\n\r\n')
  return end < 0 ? bytes.byteLength : end
}

/** Of bytes without bare CR and LF. */
function endsInCrlf(bytes: Uint8Array, length: number): boolean {
  return length === 0 || bytes[length - 1] === LF
}

/** `dirty`: bare CR, bare LF or NUL; `dots`: clean, but a line starts with a dot. Checks four bytes at a time where
 *  possible, since it reads every byte of every mail. */
function firstFault(bytes: Buffer): 'none' | 'dots' | 'dirty' {
  const words =
    bytes.byteOffset % 4 === 0 ? new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2) : NO_WORDS
  for (let at = 0; at < bytes.length; at++) {
    if (at % 4 === 0) {
      let word = at >> 2
      while (word < words.length && isAboveCr(words[word]!)) word++
      at = word << 2
    }
    const byte = bytes[at]!
    if (byte === CR) {
      if (bytes[++at] !== LF) return 'dirty'
    } else if (byte === LF || byte === 0) return 'dirty'
  }
  return bytes[0] === DOT || bytes.includes(LINE_DOT) ? 'dots' : 'none'
}

const NO_WORDS = new Int32Array(0)
const LINE_DOT = Buffer.from('\r\n.')

/** Whether each of the four bytes is 14 or more: the subtraction sets the highest bit of exactly those that are
 *  less. */
function isAboveCr(word: number): boolean {
  return ((word - 0x0e0e0e0e) & ~word & 0x80808080) === 0
}

function repaired(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1').replaceAll('\0', '')
  return Buffer.from(text.replace(/\r\n|\r|\n/g, '\r\n'), 'latin1')
}

function stuffed(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  return Buffer.from((text.startsWith('.') ? `.${text}` : text).replaceAll('\r\n.', '\r\n..'), 'latin1')
}
