import { isIP } from 'node:net'
import type { ARCResult, DKIMResult, DKIMVerifyOptions, DMARCResult, DNSResolver, SPFResult } from 'mailauth'
import { arc } from 'mailauth/lib/arc'
import { DkimVerifier } from 'mailauth/lib/dkim/dkim-verifier'
import { evaluateDmarc } from 'mailauth/lib/dmarc'
import { spf } from 'mailauth/lib/spf'
import { formatDomain, getAlignment } from 'mailauth/lib/tools'
import { createBodyHashes } from './body-hashes.ts'
import { rememberedKeys } from './remembered-keys.ts'

/** mailauth's results by method. */
export interface Found {
  dkim: { results: DKIMResult[]; headerFrom: string[] }
  spf: SPFResult
  arc: ARCResult
  /** False when the author is unclear. */
  dmarc: DMARCResult | false
  /** Why DMARC was skipped. */
  dmarcSkipReason: string | undefined
}

/** Mail and client → the results of mailauth's own `authenticate` with `strict`, in the same order, without the header
 *  fields it derives. A test compares the two. */
export async function checked(
  mail: Buffer,
  by: { ip: string; helo: string; sender: string; mta: string },
  resolver: DNSResolver,
): Promise<Found> {
  const common = { resolver, strict: true, minBitLength: 1024 } // RFC 8301 §3.2
  const verifier = await verifiedDkim(mail, { ...common, sender: by.sender })
  const { results, headerFrom, fromFields } = verifier
  const spfResult = await spf({ ...by, helo: heloOf(by), resolver, strict: true })
  const arcResult = await arc(verifier.arc, { ...common, ip: by.ip })
  const passed = results.filter(({ status }) => status.result === 'pass')
  const { response, dkimAligned, reason } = await evaluateDmarc({
    headerFrom,
    fromFields,
    spfDomains: spfResult.status.result === 'pass' && spfResult.domain ? [spfResult.domain] : [],
    dkimDomains: passed.map(({ id, signingDomain, status: { aligned, underSized } }) => ({
      id,
      domain: signingDomain ?? '',
      aligned,
      underSized,
    })),
    arcResult,
    resolver,
    strict: true,
  } as Parameters<typeof evaluateDmarc>[0])
  if (response && dkimAligned) align(results, response, dkimAligned)
  return { dkim: { results, headerFrom }, spf: spfResult, arc: arcResult, dmarc: response, dmarcSkipReason: reason }
}

/** Address literals are in brackets. RFC 5321 §4.1.3 */
function heloOf({ helo, ip }: { helo: string; ip: string }): string {
  const name = helo || ip
  return isIP(name) ? `[${name}]` : name
}

/** mailauth's DKIM verifier guesses alignment: it has neither the author's DMARC record nor the organizational
 *  domain. */
function align(results: readonly DKIMResult[], dmarc: DMARCResult, aligned: ReadonlySet<string>): void {
  const from = dmarc.status.header?.from ?? ''
  for (const { status, signingDomain = '' } of results) {
    if (status.result === 'pass') status.aligned = aligned.has(formatDomain(signingDomain)) ? signingDomain : false
    else if (dmarc.alignment?.dkim.strict) {
      const same = getAlignment(from, [signingDomain], true)
      status.aligned = (status.aligned && same !== false && same.domain) || false
    }
  }
}

/** A mail in memory with CRLF or LF line ends → mailauth's verifier with its results: DKIM, the ARC chain with its
 *  newest signature, and the From addresses. Header and body are passed whole: as a stream, mailauth searches line ends
 *  byte by byte, a third of the total time. Large mail yields to other work. */
async function verifiedDkim(mail: Buffer, options: DKIMVerifyOptions): Promise<DkimVerifier> {
  const verifier = new WholeVerifier(options)
  await feed(verifier, mail)
  await verifier.finish()
  return verifier
}

/** Passes header and body of a mail to mailauth's parser. */
export async function feed(
  to: { emitHeaders(header: Buffer): Promise<void>; nextChunk(piece: Buffer): Promise<void> },
  mail: Buffer,
): Promise<void> {
  const raw = withCrLf(mail)
  const bodyAt = bodyOf(raw)
  await to.emitHeaders(raw.subarray(0, bodyAt))
  for (let at = bodyAt; at < raw.length; at += PIECE_BYTES) {
    if (at > bodyAt) await new Promise((resolve) => setImmediate(resolve))
    await to.nextChunk(raw.subarray(at, at + PIECE_BYTES))
  }
}

class WholeVerifier extends DkimVerifier {
  constructor(options: DKIMVerifyOptions) {
    super(options)
    this.keyCache = rememberedKeys(options.resolver!)
    Object.defineProperty(this.arc, 'keyCache', { value: this.keyCache, configurable: true, writable: true })
  }

  readonly #hashes = createBodyHashes()

  override addBodyHash(canonicalization: string, algorithm: string, mostBytes: number | ''): string {
    const key = [canonicalization, algorithm, mostBytes].join(':')
    if (!this.bodyHashes.has(key)) this.bodyHashes.set(key, this.#hashes.add(canonicalization, algorithm, mostBytes))
    return key
  }

  override async nextChunk(piece: Buffer): Promise<void> {
    this.#hashes.update(piece)
  }
}

const PIECE_BYTES = 65_536
const [LF, CR] = [10, 13]

/** Offset behind the first empty line; the end if there is none. */
function bodyOf(raw: Buffer): number {
  if (raw[0] === CR && raw[1] === LF) return 2
  const end = raw.indexOf('\r\n\r\n')
  return end < 0 ? raw.length : end + 4
}

/** Returns the same bytes if every LF follows a CR, as in all mail received by SMTP. */
function withCrLf(mail: Buffer): Buffer {
  for (let at = 0; at < mail.length; at++) {
    if (mail[at] === LF && mail[at - 1] !== CR) {
      return Buffer.from(mail.toString('latin1').replace(/(?<!\r)\n/g, '\r\n'), 'latin1')
    }
  }
  return mail
}
