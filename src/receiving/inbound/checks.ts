import { isIP } from 'node:net'
import type { ARCData, ARCResult, DMARCResult, DNSResolver, SPFResult } from 'mailauth'
import { arc, getARChain } from 'mailauth/lib/arc'
import { evaluateDmarc } from 'mailauth/lib/dmarc'
import { spf } from 'mailauth/lib/spf'
import { formatDomain } from 'mailauth/lib/tools'
import addressparser from 'nodemailer/lib/addressparser'
import { bounded } from './bounded-head.ts'
import { rememberedKeys } from './remembered-keys.ts'
import {
  type KeyOf,
  type MailField,
  mailFields,
  type SignatureResult,
  verifiedSignatures,
  type WholeMail,
} from './signatures.ts'

/** Results by method. */
export interface Found {
  /** In the order of the header; `isAligned`: for the author's domain. */
  dkim: (SignatureResult & { isAligned: boolean })[]
  spf: SPFResult
  arc: Pick<ARCResult, 'status' | 'i'>
  /** False when the author is unclear. */
  dmarc: DMARCResult | false
  /** Why DMARC was skipped. */
  dmarcSkipReason: string | undefined
  /** The addresses of all From fields. */
  authors: string[]
}

/** Mail and client at the time `now` (ms) → results. SPF, DMARC and the ARC chain are mailauth's with `strict`; a test
 *  compares the signatures with mailauth's. */
export async function checked(
  mail: Buffer,
  by: { ip: string; helo: string; sender: string; mta: string },
  resolver: DNSResolver,
  now: number,
): Promise<Found> {
  const whole = wholeMail(mail)
  const { fields } = whole
  const chain = chainOf(fields)
  const keys = rememberedKeys(resolver)
  const newest = chain?.lastEntry?.['arc-message-signature'].original.toString('latin1')
  const sealed = newest === undefined ? null : { key: 'arc-message-signature', text: newest }
  const signatures = await verifiedSignatures(whole, sealed, keyOf(keys), now)
  const spfResult = await spf({ ...by, helo: heloOf(by), resolver, strict: true })
  const arcResult = chain === null ? UNSEALED : await judgedChain(chain, signatures.sealed, keys)
  const from = fields.filter(({ key }) => key === 'from')
  const authors = from.flatMap(({ text }) => addressesIn(text))
  const passed = signatures.dkim.filter(({ result }) => result === 'pass')
  const { response, dkimAligned, reason } = await evaluateDmarc({
    headerFrom: authors,
    fromFields: from.length,
    spfDomains: spfResult.status.result === 'pass' && spfResult.domain ? [spfResult.domain] : [],
    dkimDomains: passed.map(({ domain, unsignedBytes }) => ({ domain, underSized: unsignedBytes || undefined })),
    arcResult,
    resolver,
    strict: true,
  } as Parameters<typeof evaluateDmarc>[0])
  const isAligned = (domain: string) => dkimAligned?.has(formatDomain(domain)) ?? false
  return {
    dkim: signatures.dkim.map((each) => ({ ...each, isAligned: isAligned(each.domain) })),
    spf: spfResult,
    arc: arcResult,
    dmarc: response,
    dmarcSkipReason: reason,
    authors,
  }
}

/** Mail → the results of its DKIM signatures, in the order of the header; none for a malformed header. */
export async function checkedSignatures(mail: Buffer, resolver: DNSResolver, now: number): Promise<SignatureResult[]> {
  return (await verifiedSignatures(wholeMail(bounded(mail).raw), null, keyOf(rememberedKeys(resolver)), now)).dkim
}

function wholeMail(mail: Buffer): WholeMail {
  const raw = withCrLf(mail)
  const bodyAt = bodyOf(raw)
  return { fields: mailFields(raw.toString('latin1', 0, bodyAt)), body: raw.subarray(bodyAt) }
}

const keyOf =
  (keys: KeyCache): KeyOf =>
  (name, hashAlgo) =>
    keys.get('DKIM', name, MIN_BITS, { strict: true, hashAlgo })
const MIN_BITS = 1024 // RFC 8301 §3.2
const UNSEALED: Found['arc'] = { status: { result: 'none' }, i: 0 }

/** mailauth's ARC sets, oldest first, or what is wrong with them. */
interface Chain {
  chain: ArcSet[] | false
  lastEntry?: ArcSet | undefined
  error?: unknown
}
interface ArcSet {
  'arc-message-signature': { original: Buffer }
  messageSignature?: { status: { result: string } }
}

/** The ARC sets of a mail; null without any. RFC 8617 §5.2, steps 1 to 3 */
function chainOf(fields: readonly MailField[]): Chain | null {
  const parsed = fields
    .filter(({ key }) => key.startsWith('arc-'))
    .map(({ key, text }) => ({ key, line: Buffer.from(text, 'latin1') }))
  if (parsed.length === 0) return null
  try {
    const chain = getARChain({ parsed }, { strict: true }) as unknown as ArcSet[] | false
    return { chain, lastEntry: chain === false ? undefined : chain.at(-1) }
  } catch (error) {
    return { chain: false, error }
  }
}

/** Step 4 to 6: the newest message signature and all seals. */
function judgedChain(chain: Chain, signature: SignatureResult | null, keyCache: KeyCache): Promise<ARCResult> {
  if (chain.lastEntry !== undefined && signature !== null) {
    // Anyone may have written what l= leaves unsigned. RFC 6376 §8.2
    const result = signature.unsignedBytes > 0 ? 'policy' : signature.result
    chain.lastEntry.messageSignature = { status: { result } }
  }
  const data = { ...chain, keyCache } as unknown as ARCData
  return arc(data, { resolver: keyCache.resolver, strict: true, minBitLength: MIN_BITS })
}

/** All addresses of a From field, also those in groups. RFC 6854 */
function addressesIn(field: string): string[] {
  const value = Buffer.from(field.slice(field.indexOf(':') + 1), 'latin1').toString()
  return addressparser(value.trim())
    .flatMap((each) => each.group ?? [each])
    .flatMap(({ address }) => (address ? [address] : []))
}

/** Address literals are in brackets. RFC 5321 §4.1.3 */
function heloOf({ helo, ip }: { helo: string; ip: string }): string {
  const name = helo || ip
  return isIP(name) ? `[${name}]` : name
}

const [LF, CR] = [10, 13]

/** Offset behind the first empty line; the end if there is none. */
export function bodyOf(raw: Buffer): number {
  if (raw[0] === CR && raw[1] === LF) return 2
  const end = raw.indexOf('\r\n\r\n')
  return end < 0 ? raw.length : end + 4
}

/** Returns the same bytes if every LF follows a CR, as in all mail received by SMTP. */
export function withCrLf(mail: Buffer): Buffer {
  for (let at = mail.indexOf(LF); at >= 0; at = mail.indexOf(LF, at + 1)) {
    if (mail[at - 1] !== CR) return Buffer.from(mail.toString('latin1').replace(/(?<!\r)\n/g, '\r\n'), 'latin1')
  }
  return mail
}
