import { ALIASES, ASCII, charsetLabel, resembledBy, UTF7, WIDE } from './charset-names.ts'
import { decodeUtf7 } from './utf7.ts'

/** Bytes in a named charset → text. Malformed bytes become U+FFFD. Invalid ASCII is read as UTF-8, and failing that as
 *  windows-1252. Under a name that the platform does not support, UTF-8 is read as such, and other text by the charset
 *  whose name resembles it; null if none does. UTF-8 may have a few cut characters, as in names that a program shortened.
 *  A byte order mark is removed. Never throws. */
export function decodeCharset(bytes: Uint8Array, charset: string): string | null {
  const label = charsetLabel(charset)
  if (label === '' || ASCII.has(label)) return guessed(bytes)
  if (UTF7.has(label)) return decodeUtf7(bytes)
  if (label === 'utf-16' && bytes[0] === 0xfe && bytes[1] === 0xff) return decoded(bytes, 'utf-16be')
  const name = ALIASES.get(label) ?? label
  if (name === 'iso-2022-kr' || name === 'csiso2022kr') return decoded(eightBit(bytes, SHIFTED_BY_SO), 'euc-kr')
  if (name === 'hz-gb-2312' || name === 'hz') return decoded(eightBit(bytes, SHIFTED_BY_TILDE), 'gbk')
  if (name === 'iso-2022-jp') return decoded(withoutIdleEscapes(bytes), name)
  if (WIDE.test(label) && isNarrow(bytes)) return utf8Of(bytes)
  const text = decoded(bytes, name, label) ?? utf8Of(bytes)
  const resembled = text === null ? resembledBy(label) : null
  return resembled === null ? text : decoded(bytes, resembled)
}

/** Whether a text has no NUL, which every line end and blank of these charsets has, and is UTF-8. Short ones without a
 *  line end and a blank may have none. */
function isNarrow(bytes: Uint8Array): boolean {
  const isLong = bytes.length >= 16 || (bytes.includes(LF) && bytes.includes(BLANK))
  return isLong && !bytes.includes(0) && utf8Of(bytes) !== null
}

const LF = 10
const BLANK = 32

/** Bytes without a charset name → text: UTF-8, or windows-1252 where they are not. */
export function guessed(bytes: Uint8Array): string {
  return utf8Of(bytes) ?? WINDOWS.decode(bytes)
}

const WINDOWS = new TextDecoder('windows-1252')
const STRICT = new TextDecoder('utf-8', { fatal: true })
const LENIENT = new TextDecoder('utf-8')

type Decode = (bytes: Uint8Array) => string

/** By label; null for an unsupported charset. An encoded word may be one letter, and creating its decoder costs a
 *  hundred times as much as decoding it. */
const DECODERS = new Map<string, Decode | null>()
const MAX_DECODERS = 500 // the platform has about 230 labels; the rest are unknown ones

/** `label`: the name without alias, as in the tables. */
function decoded(bytes: Uint8Array, name: string, label = name): string | null {
  let decode = DECODERS.get(label)
  if (decode === undefined) {
    decode = decoderOf(name) ?? tableDecoderOf(label)
    if (DECODERS.size >= MAX_DECODERS) DECODERS.clear()
    DECODERS.set(label, decode)
  }
  return decode?.(bytes) ?? null
}

function decoderOf(name: string): Decode | null {
  try {
    const decoder = new TextDecoder(name)
    return (bytes) => decoder.decode(bytes)
  } catch {
    return null
  }
}

/** 7-bit charsets that the platform omits: one sequence shifts to two-byte letters and another back. The shifted bytes
 *  equal those of an 8-bit charset without the eighth bit. RFC 1557, RFC 1843 */
function eightBit(bytes: Uint8Array, shifted: RegExp): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const lifted = text.replace(shifted, (sequence: string, letters: string | undefined) =>
    letters === undefined ? (sequence === '~~' ? '~' : '') : highOf(letters),
  )
  return Buffer.from(lifted, 'latin1')
}

const SHIFTED_BY_SO = /\x1b\$\)C|\x0e([^\x0f\n]*)\x0f?|\x0f/g
const SHIFTED_BY_TILDE = /~\{((?:[!-}][!-~])*)(?:~\})?|~~|~\r?\n|~\}/g

function highOf(letters: string): string {
  return Buffer.from(Buffer.from(letters, 'latin1').map((byte) => (byte > 32 ? byte | 0x80 : byte))).toString('latin1')
}

/** Where two pieces of ISO-2022-JP meet, two escape sequences follow each other, which the platform treats as an
 *  error. */
function withoutIdleEscapes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return Buffer.from(text.replace(/\x1b(?:\([BJI]|\$[@B])(?=\x1b[($])/g, ''), 'latin1')
}

/** Charsets of DOS and classic Mac OS, which the platform omits. */
function tableDecoderOf(label: string): Decode | null {
  if (!/^(?:cp|ibm|csibm|mac|x-mac|utf-?32)[\w-]{0,30}$/.test(label)) return null
  // Loaded with the first such mail: its tables take some megabytes.
  const iconv: typeof import('iconv-lite') = require('iconv-lite')
  const name = label.replace(/^x-/, '').replace(/^csibm/, 'ibm')
  if (!iconv.encodingExists(name)) return null
  return (bytes) => iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), name)
}

/** Null if the bytes are not UTF-8. */
function utf8Of(bytes: Uint8Array): string | null {
  try {
    return STRICT.decode(bytes)
  } catch {
    return isCutUtf8(bytes) ? LENIENT.decode(bytes) : null
  }
}

/** Whether whole characters of UTF-8 outweigh what is cut or cannot be UTF-8. In windows-1252, a capital letter with an accent
 *  or a ß before a sign looks like one (`Spaß“`), and almost nothing else does: a longer character weighs more. */
function isCutUtf8(bytes: Uint8Array): boolean {
  let whole = 0
  let cut = 0
  let other = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at++] ?? 0
    if (byte < 0x80) continue
    const wanted = continuationsOf(byte)
    let found = 0
    while (found < wanted && (bytes[at] ?? 0) >> 6 === 0b10) {
      found++
      at++
    }
    if (wanted === 0) other++
    else if (found < wanted) cut++
    else whole += wanted
  }
  return whole > 0 && whole >= cut + 2 * other
}

/** How many octets follow the first one of a character; 0 if it cannot be the first. RFC 3629 §3 */
function continuationsOf(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 0
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
}
