import type { ARCData, DNSResolver } from 'mailauth'
import { DkimVerifier, type SignatureField } from 'mailauth/lib/dkim/dkim-verifier'
import { formatRelaxedLine } from 'mailauth/lib/tools'
import { trimBlanks } from '../../mail/blanks.ts'
import type { DkimResult } from '../../model/inbound-message.ts'
import { hashBody } from './body-hashes.ts'
import { rememberedKeys } from './remembered-keys.ts'

/** The result of one signature. RFC 8601 §2.7.1 */
export interface SignatureResult {
  result: DkimResult
  comment: string | null
  /** As written: d=, s=, a=, b= without blanks; empty if absent. */
  domain: string
  selector: string
  algorithm: string
  value: string
}

/** The header and the body of a mail with CRLF line ends. */
export interface WholeMail {
  fields: readonly MailField[]
  body: Buffer
}

/** A field as it is signed: its bytes in latin1, without the final CRLF. `key`: its name in lower case. */
export interface MailField {
  key: string
  line: string
}

/** What mailauth finds in a header and its signatures. */
export interface Verified {
  /** In the order of the header. */
  dkim: SignatureResult[]
  /** The ARC chain with the result of its newest message signature, for mailauth's `arc`. */
  chain: ARCData
  /** The addresses of all From fields, also those in groups (RFC 6854), and the number of these fields. */
  authors: string[]
  fromFields: number
}

/** Header section in latin1 → its fields. `bounded` has checked that every line begins or continues one. Linear, never
 *  throws. RFC 5322 §2.2 */
export function mailFields(header: string): MailField[] {
  let end = header.length
  while (end > 0 && '\r\n'.includes(header.charAt(end - 1))) end--
  if (end === 0) return []
  const fields: string[] = []
  for (const line of header.slice(0, end).split('\r\n')) {
    if (line.startsWith(' ') || line.startsWith('\t')) fields.push(`${fields.pop() ?? ''}\r\n${line}`)
    else fields.push(line)
  }
  return fields.map((line) => ({ key: trimBlanks(line.slice(0, line.indexOf(':'))).toLowerCase(), line }))
}

/** Verifies the DKIM signatures of a mail and its newest ARC-Message-Signature with mailauth, all at the same time, so
 *  that a key whose name server does not answer delays no other. Keys are queried only for signatures whose body hash
 *  is right. Rejects only on a bug. RFC 6376 §6.1, RFC 8617 §5.2
 *
 *  It calls mailauth's steps one by one. Its header parser takes 29 s for 100,000 CRs in a field, and for each
 *  signature it parses the Content-Type, whose result nobody reads. */
export async function verifiedSignatures(
  { fields, body }: WholeMail,
  resolver: DNSResolver,
  now: number,
): Promise<Verified> {
  const verifier = new DkimVerifier({ resolver, strict: true, minBitLength: MIN_BITS, curTime: new Date(now) })
  const keys = rememberedKeys(resolver)
  verifier.keyCache = keys
  Object.assign(verifier.arc, { keyCache: keys })
  const parsed = fields.filter(({ key }) => PARSED.has(key))
  // As bytes, because their texts are UTF-8.
  await verifier.messageHeaders({ parsed: parsed.map(({ key, line }) => ({ key, line: Buffer.from(line, 'latin1') })) })
  verifier.headers = { parsed: fields }
  // Without l=: mailauth has a hash for each length, and 20 of them took 39 s for 25 MB.
  verifier.bodyHashes.clear()
  const prepared: Prepared[] = []
  for (const field of verifier.signatureHeaders) {
    if (field.selector.includes('_')) acceptUnderscores(field, verifier)
    const fault = faultOf(field)
    prepared.push({ field, fault })
    if (fault !== null) continue
    const { bodyCanon, hashAlgo } = field
    field.bodyHashKey = `${bodyCanon} ${hashAlgo}`
    const known = verifier.bodyHashes.get(field.bodyHashKey)
    const hash = known ?? (await hashBody(body, bodyCanon === 'relaxed', hashAlgo))
    verifier.bodyHashes.set(field.bodyHashKey, hash)
  }
  const results = await Promise.all(prepared.map((each) => resultOf(each, verifier, fields)))
  const { arc: chain, headerFrom: authors, fromFields } = verifier
  const sealed = results.find((_, at) => prepared[at]?.field.type === 'ARC')
  if (sealed !== undefined) Object.assign(chain.lastEntry!, { messageSignature: { status: sealed } })
  return { dkim: results.filter((each) => each !== sealed), chain, authors, fromFields }
}

/** RFC 8301 §3.2 */
export const MIN_BITS = 1024
/** The fields that mailauth parses; the others it only canonicalizes. */
const PARSED = new Set(['from', 'dkim-signature', 'arc-seal', 'arc-message-signature', 'arc-authentication-results'])

interface Prepared {
  field: SignatureField
  /** Why the signature cannot pass, whatever its key; null if the key decides. */
  fault: string | null
}

/** Reads a signature again whose selector has `_`: mailauth rejects it (RFC 6376 §3.1), but DNS allows it, and some
 *  real selectors have it. */
function acceptUnderscores(field: SignatureField, verifier: DkimVerifier): void {
  const { selector, parsed } = field
  if (parsed.s === undefined) return
  delete field.invalid
  parsed.s.value = selector.replaceAll('_', 'x')
  verifier.prepareSignature(field)
  parsed.s.value = selector
  field.selector = selector
}

/** Why a signature cannot pass; null if the key decides. mailauth's reason, or a fault that mailauth accepts or throws
 *  for: an invalid c=, white space other than spaces, tabs and folds, a b= that is not base64, a name too long for DNS.
 *  RFC 6376 §3.5, RFC 1035 §2.3.4 */
function faultOf({ skip, invalid, parsed, original, canonicalization, ...field }: SignatureField): string | null {
  if (skip) return skip
  if (parsed.c !== undefined && !CANONICALIZATION.test(canonicalization)) return 'unknown canonicalization'
  if (invalid) return invalid
  const isValid =
    !OTHER_BLANK.test(original.toString()) &&
    BASE64.test(String(parsed.b?.value)) &&
    `${field.selector}._domainkey.${field.signingDomain}`.length <= MAX_NAME
  return isValid ? null : 'signature syntax error'
}

const CANONICALIZATION = /^(?:simple|relaxed)(?: ?\/ ?(?:simple|relaxed))?$/i
const OTHER_BLANK = /[^\S \t\r\n]/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const MAX_NAME = 253

async function resultOf(
  { field, fault }: Prepared,
  verifier: DkimVerifier,
  fields: readonly MailField[],
): Promise<SignatureResult> {
  const { signingDomain: domain, selector, algorithm, parsed, maxBodyLength } = field
  const base = { domain, selector, algorithm, value: String(parsed.b?.value ?? '') }
  if (fault !== null) return { ...base, result: 'neutral', comment: fault }
  const bodyBytes = verifier.bodyHashes.get(field.bodyHashKey)!.canonicalizedLength
  // Anyone may have written what l= leaves unsigned. RFC 6376 §8.2
  if (maxBodyLength !== '' && maxBodyLength < bodyBytes)
    return { ...base, result: 'policy', comment: `l= leaves ${bodyBytes - maxBodyLength} bytes of the body unsigned` }
  const { status } = await verifier.verifySignature(field)
  const unsigned = status.result === 'pass' ? unsignedField(field, fields) : undefined
  if (unsigned !== undefined) return { ...base, result: 'policy', comment: `another ${unsigned} field is unsigned` }
  const comment = status.comment ?? status.policy?.['dkim-rules'] ?? null
  return { ...base, result: status.result as DkimResult, comment }
}

/** Fields that occur once, RFC 5322 §3.6 and RFC 2045 §3, as far as clients show or use them. Of several, clients show
 *  the first, and signatures cover the last: anyone may have added the others. RFC 6376 §8.15 */
const ONCE = ['from', 'sender', 'reply-to', 'to', 'cc', 'subject', 'date', 'content-type', 'content-transfer-encoding']

/** The name of which the signature covers some of several different fields. */
function unsignedField({ parsed }: SignatureField, fields: readonly MailField[]): string | undefined {
  const names = String(parsed.h?.value).toLowerCase().split(':')
  return ONCE.find((name) => {
    const covered = names.filter((each) => each === name).length
    const same = covered === 0 ? [] : fields.filter(({ key }) => key === name)
    return covered < same.length && new Set(same.map(({ line }) => formatRelaxedLine(line).toString('latin1'))).size > 1
  })
}
