import type { SealName } from './inbound-result.ts'

/** Whether the text is what an ARC-Message-Signature or ARC-Seal signs for `domain` (RFC 8617 §4.1.2, §4.1.3):
 *  canonical header fields ending in one of these two with that domain and selector and an empty signature. The text of
 *  a DKIM signature ends with a DKIM-Signature, so a seal request cannot produce one. */
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
    const [only = '', ...others] = found
    return found.length === 0 || others.length > 0 ? null : only.slice(only.indexOf('=') + 1).trim()
  }
  return (
    /^\d{1,2}$/.test(textOf('i') ?? '') &&
    textOf('a') === 'rsa-sha256' &&
    textOf('d') === domain &&
    textOf('s') === selector &&
    tags.at(-1) === 'b='
  )
}

/** Its h= names every signed field; bounded-head.ts allows fewer bytes. */
const LONGEST_FIELD = 300_000
