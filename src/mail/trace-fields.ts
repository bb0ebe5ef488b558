import { foldField } from './header-text.ts'

/** Facts of an SMTP transaction; `helo` and the recipients come from the client. */
export interface Trace {
  remoteAddress: string
  helo: string
  /** Empty for the null return path. */
  returnPath: string
  recipients: readonly string[]
  /** RFC 3848: ESMTPS … */
  protocol: string
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`; null without TLS. */
  tls: string | null
  /** Milliseconds UTC. */
  receivedAt: number
  /** Our id, for the id clause. */
  id: string
}

/** Return-Path field, ending in CRLF. RFC 5321 §4.4 */
export function returnPathField(returnPath: string): string {
  return foldField('Return-Path', [`<${inBrackets(returnPath)}>`])
}

/** Received field of the host `by`, folded, ending in CRLF. Names the recipient only if there is exactly one, since
 *  others may be blind copies. Client input cannot add a clause or a line. RFC 5321 §4.4, §7.6 */
export function receivedField(by: string, trace: Trace): string {
  const { remoteAddress, protocol, tls, receivedAt, id } = trace
  const [only, ...others] = trace.recipients
  const address = remoteAddress.includes(':') ? `IPv6:${remoteAddress}` : remoteAddress
  return foldField('Received', [
    'from',
    heloWord(trace.helo),
    `([${address.replace(/[^0-9a-zA-Z.:]/g, '')}])`,
    'by',
    by,
    'with',
    protocol.replace(/[^0-9a-zA-Z]/g, '') || 'SMTP',
    ...(tls === null ? [] : `(${tls.replace(/[^\w. -]/g, '')})`.split(' ')),
    'id',
    ...(only !== undefined && others.length === 0 ? [id, 'for', `<${inBrackets(only)}>;`] : [`${id};`]),
    new Date(receivedAt).toUTCString().replace(/GMT$/, '+0000'),
  ])
}

const LONGEST = 255 // RFC 5321 §4.5.3.1.2

/** A domain or an address literal; for any other HELO name only its length is shown. */
function heloWord(helo: string): string {
  return helo.slice(0, LONGEST).replace(/[^\w.:[\]-]/g, '?') || 'unknown'
}

/** A quoted address may contain blanks and UTF-8; characters that would end it or the line become `?`. */
function inBrackets(address: string): string {
  return address.slice(0, 2 * LONGEST).replace(/[\x00-\x1f\x7f-\x9f<>\u2028\u2029]/g, '?')
}
