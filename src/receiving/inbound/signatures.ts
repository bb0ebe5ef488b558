import { createHash, type KeyObject, verify } from 'node:crypto'
import { trimBlanks } from '../../mail/blanks.ts'
import type { DkimResult } from '../../model/inbound-message.ts'
import { type BodyHash, createBodyHashes, hashBody } from './body-hashes.ts'
import { readSignature, type SignatureField, sameDomain } from './signature-field.ts'

/** What became of one signature. RFC 8601 §2.7.1 */
export interface SignatureResult {
  result: DkimResult
  comment: string | null
  /** As written: d=, s=, a=, b= without blanks; empty if absent. */
  domain: string
  selector: string
  algorithm: string
  value: string
  /** Bytes of the body that l= leaves unsigned. */
  unsignedBytes: number
}

/** A public key from DNS, with the flags of its record. Rejections have a `code`: remembered-keys.ts. */
export interface SigningKey {
  publicKey: string | KeyObject
  keyType: string
  /** t= in lower case. */
  flags: string[]
}

/** The header and the body of a mail with CRLF line ends. */
export interface WholeMail {
  fields: readonly MailField[]
  body: Uint8Array
}

/** A field as it is signed: its bytes in latin1, without the final CRLF. `key`: its name in lower case. */
export interface MailField {
  key: string
  text: string
}

export type KeyOf = (name: string, hash: 'sha256' | 'sha1') => Promise<SigningKey>

/** Header section in latin1, every line of which begins or continues a field (`bounded` checks that) → its fields.
 *  Linear, never throws. RFC 5322 §2.2 */
export function mailFields(header: string): MailField[] {
  let end = header.length
  while (end > 0 && '\r\n'.includes(header.charAt(end - 1))) end--
  if (end === 0) return []
  const fields: string[] = []
  for (const line of header.slice(0, end).split('\r\n')) {
    if (line.startsWith(' ') || line.startsWith('\t')) fields.push(`${fields.pop() ?? ''}\r\n${line}`)
    else fields.push(line)
  }
  return fields.map((text) => ({ key: lowerCase(trimBlanks(text.slice(0, text.indexOf(':')))), text }))
}

/** Other bytes of latin1 may be parts of UTF-8 characters. */
const lowerCase = (text: string) =>
  NOT_ASCII.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text.toLowerCase()

interface Header {
  byName: ReadonlyMap<string, readonly MailField[]>
  /** Each field once, whatever the number of signatures. */
  relaxed: (field: MailField) => string
}

function headerOf(fields: readonly MailField[]): Header {
  const known = new Map<MailField, string>()
  return {
    byName: Map.groupBy(fields, ({ key }) => key),
    relaxed: (field) => {
      const text = known.get(field) ?? relaxedForm(field)
      known.set(field, text)
      return text
    },
  }
}

/** Verifies the DKIM signatures of a mail, in the order of its header, and its ARC-Message-Signature `sealed`, if there
 *  is one. Keys are queried only for signatures whose body hash is right. A body over 64 KiB yields to other work.
 *  Rejects only on a bug. RFC 6376 §6.1, RFC 8617 §5.2 */
export async function verifiedSignatures(
  { fields, body }: WholeMail,
  sealed: MailField | null,
  keyOf: KeyOf,
  now: number,
): Promise<{ dkim: SignatureResult[]; sealed: SignatureResult | null }> {
  const hashes = createBodyHashes()
  const prepared = (field: MailField, kind: 'dkim' | 'arc'): Prepared => {
    const { text } = field
    const signature = readSignature(NOT_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text, kind)
    const { fault, isBodyRelaxed, hash, mostBytes } = signature
    return { field, signature, bodyHash: fault === null ? hashes.add(isBodyRelaxed, hash, mostBytes) : null }
  }
  const header = headerOf(fields)
  const dkim = (header.byName.get('dkim-signature') ?? []).map((field) => prepared(field, 'dkim'))
  const arc = sealed === null ? [] : [prepared(sealed, 'arc')]
  await hashBody(hashes, body)
  const results = await Promise.all([...dkim, ...arc].map((each) => resultOf(each, header, keyOf, now)))
  return { dkim: results.slice(0, dkim.length), sealed: results[dkim.length] ?? null }
}

const NOT_ASCII = /[^\x00-\x7f]/

interface Prepared {
  field: MailField
  signature: SignatureField
  /** Null for a signature with a fault. */
  bodyHash: BodyHash | null
}

async function resultOf(
  { field, signature, bodyHash }: Prepared,
  header: Header,
  keyOf: KeyOf,
  now: number,
): Promise<SignatureResult> {
  const { domain, selector, algorithm, value } = signature
  const resultWith = (result: DkimResult, comment: string | null): SignatureResult => ({
    result,
    comment,
    domain,
    selector,
    algorithm,
    value,
    unsignedBytes: bodyHash?.unhashedBytes() ?? 0,
  })
  if (bodyHash === null) return resultWith('neutral', signature.fault)
  const isSame = bodyHash.digest('base64') === signature.bodyHash
  if (!isSame) return resultWith('fail', 'body hash did not verify')
  if (signature.hash === 'sha1') return resultWith('policy', 'weak algorithm') // RFC 8301 §3.1
  let key: SigningKey
  try {
    key = await keyOf(`${selector}._domainkey.${domain}`, signature.hash)
  } catch (error) {
    return resultWith(...withoutKey(error))
  }
  if (key.keyType !== signature.keyType) return resultWith('neutral', 'inappropriate key algorithm')
  const { identityDomain } = signature
  const isSubdomain = identityDomain !== '' && sameDomain(identityDomain) !== sameDomain(domain)
  if (isSubdomain && key.flags.includes('s')) return resultWith('neutral', 'domain mismatch')
  if (!isSignedBy(key, signature, Buffer.from(signedText(field, signature, header), 'latin1')))
    return resultWith('fail', 'bad signature')
  if (signature.expiresAt < now) return resultWith('neutral', 'expired')
  const unsigned = ONCE.find((name) => isUnsigned(name, signature, header))
  return unsigned === undefined
    ? resultWith('pass', null)
    : resultWith('policy', `another ${unsigned} field is unsigned`)
}

/** Fields that occur once, RFC 5322 §3.6 and RFC 2045 §3, as far as clients show or use them. Of several, clients show
 *  the first, and signatures cover the last: anyone may have added the others. RFC 6376 §8.15 */
const ONCE = ['from', 'sender', 'reply-to', 'to', 'cc', 'subject', 'date', 'content-type', 'content-transfer-encoding']

/** Whether the signature covers some of several different fields. */
function isUnsigned(name: string, { names }: SignatureField, { byName, relaxed }: Header): boolean {
  const same = byName.get(name) ?? []
  const covered = names.filter((each) => each === name).length
  return covered > 0 && covered < same.length && new Set(same.map(relaxed)).size > 1
}

/** Ed25519 signs the digest. RFC 8463 §3 */
function isSignedBy({ publicKey }: SigningKey, { keyType, value }: SignatureField, text: Buffer): boolean {
  const signature = Buffer.from(value, 'base64')
  if (keyType === 'rsa') return verify('sha256', text, publicKey, signature)
  return verify(null, createHash('sha256').update(text).digest(), publicKey, signature)
}

function withoutKey(error: unknown): [DkimResult, string] {
  const { code, message } = error as Error & { code?: string }
  if (code === 'ESHORTKEY') return ['policy', 'weak-key']
  const fault = KEY_FAULTS.get(code ?? '')
  return fault === undefined ? ['temperror', `DNS failure: ${code ?? message}`] : ['neutral', fault]
}

/** Codes of mailauth's key records, RFC 6376 §6.1.2. */
const KEY_FAULTS = new Map([
  ['ENOTFOUND', 'no key'],
  ['ENODATA', 'no key'],
  ['EINVALIDVER', 'unknown key version'],
  ['EINVALIDTYPE', 'unknown key type'],
  ['EINVALIDVAL', 'invalid public key'],
  ['EINVALIDHASH', 'inappropriate hash algorithm'],
  ['EINVALIDSERVICE', 'key not for email'],
])

/** The text that a signature signs: the fields that it names, each name from the bottom up, and itself without b=. RFC
 *  6376 §3.7, §5.4.2 */
function signedText(own: MailField, { names, isHeaderRelaxed }: SignatureField, { byName, relaxed }: Header): string {
  const canonical = isHeaderRelaxed ? relaxed : (field: MailField) => field.text
  const taken = new Map<string, number>()
  let signed = ''
  for (const name of names) {
    const same = byName.get(name)
    if (same === undefined) continue
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    if (count <= same.length) signed += `${canonical(same.at(-count)!)}\r\n`
  }
  return signed + withoutValue(canonical(own))
}

/** RFC 6376 §3.4.2. Only spaces and tabs are blanks: in latin1, `\s` also matches a byte of a UTF-8 character. */
function relaxedForm({ key, text }: MailField): string {
  const value = text.slice(text.indexOf(':') + 1).replaceAll('\r\n', '')
  return `${key}:${trimBlanks(UNEVEN.test(value) ? value.replace(UNEVEN_ALL, ' ') : value)}`
}

const UNEVEN = /\t| {2}/
const UNEVEN_ALL = /[ \t]+/g

/** Empties b= of a valid list of tags. */
function withoutValue(field: string): string {
  for (let at = field.indexOf(':') + 1; at < field.length; ) {
    const next = field.indexOf(';', at)
    const end = next < 0 ? field.length : next
    const equals = field.indexOf('=', at)
    if (field.slice(at, equals).trim() === 'b') return field.slice(0, equals + 1) + field.slice(end)
    at = end + 1
  }
  return field
}
