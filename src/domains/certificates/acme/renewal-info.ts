import { X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { type AcmeClient, read } from './client.ts'

/** When the authority suggests renewing the certificate: earlier than usual if it must revoke it. RFC 9773 */
export interface RenewalWindow {
  /** ms UTC. */
  startsAt: number
  endsAt: number
  /** When to ask again; null if not stated. */
  retryAfterMs: number | null
}

/** Certificate (PEM) → its RenewalWindow; null if the authority has none for it. Rejects with OrderFailure when the
 *  request fails. RFC 9773 §4.2 */
export async function askRenewalWindow(client: AcmeClient, certificatePem: string): Promise<RenewalWindow | null> {
  const id = certificateId(certificatePem)
  const { renewalInfo } = client.directory
  if (renewalInfo === undefined || id === null) return null
  const { text, retryAfterMs } = await client.get(`${renewalInfo.replace(/\/$/, '')}/${id}`)
  const { start, end } = read(INFO, text).suggestedWindow
  const [startsAt, endsAt] = [Date.parse(start), Date.parse(end)]
  return startsAt < endsAt ? { startsAt, endsAt, retryAfterMs } : null
}

const INFO = z.object({ suggestedWindow: z.object({ start: z.string(), end: z.string() }) })

/** Certificate (PEM) → its id at the authority: key identifier and serial number, base64url. Null without an authority
 *  key identifier. RFC 9773 §4.1 */
export function certificateId(certificatePem: string): string | null {
  const { raw, serialNumber } = new X509Certificate(certificatePem)
  const keyId = authorityKeyId(raw)
  if (keyId === null) return null
  const digits = serialNumber.length % 2 === 0 ? serialNumber : `0${serialNumber}`
  // DER: a leading zero keeps it positive
  const serial = Buffer.from(/^[89a-f]/i.test(digits) ? `00${digits}` : digits, 'hex')
  return `${keyId.toString('base64url')}.${serial.toString('base64url')}`
}

const AUTHORITY_KEY_ID = Buffer.from('0603551d23', 'hex') // 2.5.29.35

/** AuthorityKeyIdentifier ::= SEQUENCE { keyIdentifier [0] … } in an octet string; all lengths are short. RFC 5280
 *  §4.2.1.1 */
function authorityKeyId(der: Buffer): Buffer | null {
  const at = der.indexOf(AUTHORITY_KEY_ID)
  if (at < 0) return null
  const [octets, , sequence, , keyIdentifier, size = 0] = der.subarray(at + AUTHORITY_KEY_ID.length)
  const begin = at + AUTHORITY_KEY_ID.length + 6
  if (octets !== 0x04 || sequence !== 0x30 || keyIdentifier !== 0x80 || size > 64) return null
  return Buffer.from(der.subarray(begin, begin + size))
}
