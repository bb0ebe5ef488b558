import { foldField } from './header-text.ts'

/** What an SMTP transaction said of itself; `helo` and the recipients are the client's words. */
export interface Trace {
  remoteAddress: string
  helo: string
  /** Empty = the null return path. */
  returnPath: string
  recipients: readonly string[]
  /** RFC 3848: ESMTPS … */
  protocol: string
  /** `TLSv1.3 TLS_AES_256_GCM_SHA384`, null in clear. */
  tls: string | null
  /** Milliseconds UTC. */
  receivedAt: number
  /** Ours, for the id clause. */
  id: string
}

/** Return-Path field, CRLF ended. RFC 5321 §4.4. */
export function returnPathField(returnPath: string): string {
  return foldField('Return-Path', [`<${inBrackets(returnPath)}>`])
}

/** Received field as the host `by` adds it, folded, CRLF ended. The recipient is named only when there is exactly one:
 *  the others were perhaps blind copies. Nothing the client said can add a clause or a line. RFC 5321 §4.4, §7.6. */
export function receivedField(by: string, trace: Trace): string {
  const { remoteAddress, recipients, protocol, tls, receivedAt, id } = trace
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
    ...(recipients.length === 1 ? [id, 'for', `<${inBrackets(recipients[0]!)}>;`] : [`${id};`]),
    new Date(receivedAt).toUTCString().replace(/GMT$/, '+0000'),
  ])
}

const LONGEST = 255 // RFC 5321 §4.5.3.1.2

/** A domain or an address literal; whatever else a client may call itself keeps its length alone. */
function heloWord(helo: string): string {
  return helo.slice(0, LONGEST).replace(/[^\w.:[\]-]/g, '?') || 'unknown'
}

/** An address may be quoted and have blanks and UTF-8 in it; what would end it, or the line, becomes `?`. */
function inBrackets(address: string): string {
  return address.slice(0, 2 * LONGEST).replace(/[\x00-\x1f\x7f-\x9f<>\u2028\u2029]/g, '?')
}
