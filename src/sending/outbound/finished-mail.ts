import { endOfHead } from '../../mail/header-fields.ts'
import { foldLongLines } from '../../mail/long-lines.ts'
import { encodeRawHeaders } from '../../mail/raw-headers.ts'
import { toSevenBit } from '../../mail/seven-bit.ts'

/** A composed mail, without our signatures. */
export interface Composed {
  mail: Uint8Array
  /** As in Prepared. */
  changes: string | null
}

/** A mail as its author wrote it → the form in which it goes out.
 *
 *  Mail that we sign (`isOurs`) becomes 7-bit ASCII in lines of at most 998 octets before the signature, so that no
 *  server on its way must change it (RFC 6376 §5.3). Only a `multipart/signed` inside it keeps its content, unless
 *  `isSevenBit` says that the next server takes no 8-bit mail.
 *
 *  Forwarded mail keeps every octet, so that its author's signature verifies. Its parts are re-encoded for such a server
 *  only, and its long lines folded. Both are what Postfix does. */
export function finishedMail(
  raw: Uint8Array,
  { isOurs, isSevenBit }: { isOurs: boolean; isSevenBit: boolean },
): Composed {
  const parts = isOurs || isSevenBit ? toSevenBit(raw, isSevenBit) : { bytes: raw, encoded: 0 }
  const headers = isOurs ? withEncodedHeaders(parts.bytes) : { bytes: parts.bytes, encoded: 0 }
  const lines = foldLongLines(headers.bytes)
  const changes = [
    ...counted(parts.encoded, 'part re-encoded', 'parts re-encoded'),
    ...counted(headers.encoded, 'header field encoded', 'header fields encoded'),
    ...counted(lines.folded, 'line over 998 octets folded', 'lines over 998 octets folded'),
  ]
  if (changes.length === 0) return { mail: lines.bytes, changes: null }
  const mayBreak = !isOurs || isSevenBit || lines.folded > 0
  const signatures = mayBreak ? '; a signature of its author may no longer verify' : ''
  return { mail: lines.bytes, changes: `changed before sending: ${changes.join(', ')}${signatures}` }
}

function withEncodedHeaders(mail: Uint8Array): { bytes: Uint8Array; encoded: number } {
  const bodyAt = endOfHead(mail)
  const { bytes, encoded } = encodeRawHeaders(mail.subarray(0, bodyAt))
  return encoded === 0 ? { bytes: mail, encoded } : { bytes: Buffer.concat([bytes, mail.subarray(bodyAt)]), encoded }
}

function counted(count: number, one: string, several: string): string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`]
}
