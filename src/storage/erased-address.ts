import { createHmac } from 'node:crypto'
import { domainToUnicode } from 'node:url'
import { parseMailbox } from '../mail/address.ts'
import { ERASED_ADDRESS } from '../model/erasure.ts'
import type { AsSent } from '../model/message.ts'
import { suppressionKey } from '../model/suppression.ts'
import { packRecipients, unpackRecipients } from './message-rows.ts'
import type { Suppressions, WhySuppressed } from './roles/suppressions.ts'

/** Key of the installation, organization and folded address → 64 hexadecimal digits: HMAC-SHA-256 (RFC 2104). */
export function hashOfAddress(key: Uint8Array, organizationId: string, email: string): string {
  return createHmac('sha256', key).update(organizationId).update('\n').update(email).digest('hex')
}

/** Hash of an address → the form in which a suppression keeps it. */
export const addressOfHash = (hash: string) => `${hash}@erased.invalid`

/** Reads the key from the secrets of the store once; a failed read is repeated by the next call. */
export function createErasureKey(
  secret: (name: string, fresh: Uint8Array) => Promise<Uint8Array>,
): () => Promise<Uint8Array> {
  let key: Promise<Uint8Array> | null = null
  return () => {
    key ??= secret('erased addresses', crypto.getRandomValues(new Uint8Array(32))).catch((error) => {
      key = null
      throw error
    })
    return key
  }
}

/** Suppressions that also finds those of erased addresses, in organizations that have erased some. The others pay
 *  nothing. */
export function findingErased(
  suppressions: Suppressions,
  { hasErased, key }: { hasErased: (organizationId: string) => boolean; key: () => Promise<Uint8Array> },
): Suppressions {
  const amongErased: Suppressions['among'] = async (mail, emails) => {
    const secret = await key()
    const hashed = emails.map((email) => addressOfHash(hashOfAddress(secret, mail.organizationId, email)))
    const found = await suppressions.among(mail, [...emails, ...hashed])
    return new Map(
      emails.flatMap((email, at): [string, WhySuppressed][] => {
        const [plain, erased] = [found.get(email), found.get(hashed[at] ?? '')]
        const why = plain && erased && erased.reason < plain.reason ? erased : (plain ?? erased)
        return why === undefined ? [] : [[email, why]]
      }),
    )
  }
  return {
    ...suppressions,
    among: (mail, emails) =>
      hasErased(mail.organizationId) ? amongErased(mail, emails) : suppressions.among(mail, emails),
    find: async (organizationId, email) => {
      const present = await suppressions.find(organizationId, email)
      if (!hasErased(organizationId)) return present
      const erased = addressOfHash(hashOfAddress(await key(), organizationId, email))
      return [...present, ...(await suppressions.find(organizationId, erased))]
    },
  }
}

/** Folded address → true for texts that name it in any case, also encoded for JSON or a URL. Linear. A longer address
 *  that ends or begins like it is another one. */
export function naming(address: string): (text: string) => boolean {
  const forms = formsOf(address)
  return (text) => {
    const folded = text.toLowerCase()
    return forms.some((form) => nextOf(folded, form, 0) >= 0)
  }
}

/** Text → the same with ERASED_ADDRESS in place of a folded address. */
export function withoutAddress(text: string, address: string): string {
  let rest = text
  for (const form of formsOf(address)) {
    const folded = rest.toLowerCase()
    let at = nextOf(folded, form, 0)
    if (at < 0) continue
    const placeOf = placesIn(rest, folded)
    let out = ''
    let done = 0
    for (; at >= 0; at = nextOf(folded, form, at + form.length)) {
      out += rest.slice(done, placeOf(at)) + ERASED_ADDRESS
      done = placeOf(at + form.length)
    }
    rest = out + rest.slice(done)
  }
  return rest
}

/** Text and its folded form → a function that turns a place in the folded form into one in the text. They differ only
 *  after an `İ`, which folds to two code units (SpecialCasing.txt of Unicode). */
function placesIn(text: string, folded: string): (at: number) => number {
  if (folded.length === text.length) return (at) => at
  const places: number[] = []
  for (let at = 0; at < text.length; at++) places.push(...(text[at] === 'İ' ? [at, at] : [at]))
  return (at) => places[at] ?? text.length
}

/** Packed recipients → the same without the mailboxes of a folded address, names included. */
export function withoutRecipient(packed: string, address: string): string {
  const erased = (text: string) => {
    const mailbox = parseMailbox(text)
    const isOwn = mailbox !== null && suppressionKey(mailbox.address) === address
    return isOwn ? ERASED_ADDRESS : withoutAddress(text, address) // the name of another may contain it
  }
  const of = (field: AsSent): AsSent =>
    field === null ? null : typeof field === 'string' ? erased(field) : field.map(erased)
  const { to, cc, bcc, replyTo, replies } = unpackRecipients(packed)
  const named = replies && { ...replies, name: replies.name && withoutAddress(replies.name, address) }
  return packRecipients({
    to: of(to) ?? ERASED_ADDRESS,
    cc: of(cc),
    bcc: of(bcc),
    replyTo: of(replyTo),
    replies: named,
  })
}

/** An address with an A-label or U-label domain: as it is, in JSON, and in a URL; folded. */
function formsOf(address: string): string[] {
  const domainAt = address.lastIndexOf('@') + 1
  const domain = address.slice(domainAt)
  const shown = address.slice(0, domainAt) + (domain.includes('xn--') ? domainToUnicode(domain) || domain : domain)
  const forms = [address, shown].flatMap((each) => [
    each,
    JSON.stringify(each).slice(1, -1),
    encodeURIComponent(each).toLowerCase(),
  ])
  return [...new Set(forms)]
}

const CONTINUES_BEFORE = /[\p{L}\p{N}._+-]/u
const CONTINUES_AFTER = /^(?:[\p{L}\p{N}-]|\.[\p{L}\p{N}])/u

/** Next place of `form` in `text` from `from` on, as a whole address; -1 = none. */
function nextOf(text: string, form: string, from: number): number {
  for (let at = text.indexOf(form, from); at >= 0; at = text.indexOf(form, at + 1)) {
    const end = at + form.length
    const before = at > 0 && !isEscape(text, at) && CONTINUES_BEFORE.test(text.charAt(at - 1))
    if (!before && !CONTINUES_AFTER.test(text.slice(end, end + 2))) return at
  }
  return -1
}

/** True if the text before `at` is an escape of JSON such as a line end, or of a URL, which a letter or digit ends. */
function isEscape(text: string, at: number): boolean {
  return /\\[bfnrt]$|\\u[0-9a-f]{4}$|%[0-9a-f]{2}$/.test(text.slice(Math.max(0, at - 6), at))
}
