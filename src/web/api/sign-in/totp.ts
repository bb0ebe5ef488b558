import { createHmac, timingSafeEqual } from 'node:crypto'

/** One-time codes of an app (RFC 6238): HMAC-SHA-1, 6 digits, steps of 30 seconds. Apps support nothing else reliably. */

/** Length of a new secret in bytes: 160 bits (RFC 4226 §4, R6). */
export const TOTP_SECRET_BYTES = 20

/** Code and time in ms UTC → the time step whose code it is: the present one, the one before, or the next one, for clocks
 *  that differ (RFC 6238 §5.2). Null if it is none of theirs. */
export function stepOfCode(secret: Uint8Array, code: string, now: number): number | null {
  const present = Math.floor(now / STEP_MS)
  const given = Buffer.from(code)
  let found: number | null = null
  for (const step of [present, present - 1, present + 1]) {
    const expected = Buffer.from(codeOfStep(secret, step))
    if (found === null && given.length === expected.length && timingSafeEqual(given, expected)) found = step
  }
  return found
}

/** Secret and time step → its code (RFC 4226 §5.3). */
export function codeOfStep(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 15
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** The URI that apps read from a QR code (Key Uri Format of Google Authenticator). `issuer` names this server. */
export function totpUri(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  // A colon separates issuer and account.
  const label = [issuer.replaceAll(':', ' '), account].map(encodeURIComponent).join(':')
  return `otpauth://totp/${label}?secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
}

/** Bytes → base32 (RFC 4648 §6) without padding. */
export function base32(bytes: Uint8Array): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  let text = ''
  for (let at = 0; at < bits.length; at += 5) text += BASE32[Number.parseInt(bits.slice(at, at + 5).padEnd(5, '0'), 2)]
  return text
}

const STEP_MS = 30_000
const DIGITS = 6
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
