import type { SealName } from './inbound-result.ts'

/** Whether this is what one of the two signed fields of an ARC set signs (RFC 8617 §4.1.2, §4.1.3), made in the name of
 *  `domain`: canonical header fields, the last of them an ARC-Message-Signature or an ARC-Seal with that domain and
 *  selector and an empty signature. What a DKIM signature signs ends with a DKIM-Signature, so no request for a seal can
 *  be used as one. */
export function isSealText(text: Uint8Array, { domain, selector }: SealName): boolean {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength)
  const lastAt = bytes.lastIndexOf('\r\n') + 1
  if (bytes.length - lastAt > LONGEST_FIELD) return false
  const last = bytes.toString('latin1', lastAt === 0 ? 0 : lastAt + 1)
  const name = /^(arc-message-signature|arc-seal):/.exec(last)?.[1]
  if (name === undefined) return false
  const tags = last
    .slice(name.length + 1)
    .split(';')
    .map((tag) => tag.trim())
  const textOf = (tag: string) => {
    const found = tags.filter((each) => each.slice(0, Math.max(0, each.indexOf('='))).trim() === tag)
    return found.length === 1 ? found[0]!.slice(found[0]!.indexOf('=') + 1).trim() : null
  }
  return (
    /^\d{1,2}$/.test(textOf('i') ?? '') &&
    textOf('a') === 'rsa-sha256' &&
    textOf('d') === domain &&
    textOf('s') === selector &&
    tags.at(-1) === 'b='
  )
}

/** Its h= names every signed field; bounded-head.ts lets fewer bytes through. */
const LONGEST_FIELD = 300_000
