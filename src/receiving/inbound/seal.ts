import { getARChain } from 'mailauth/lib/arc'
import { DkimSigner } from 'mailauth/lib/dkim/dkim-signer'
import { generateCanonicalizedHeader } from 'mailauth/lib/dkim/header'
import {
  formatRelaxedLine,
  formatSignatureHeaderLine,
  getSigningHeaderLines,
  stripSignatureValue,
} from 'mailauth/lib/tools'
import type { ArcResult } from '../../model/inbound-message.ts'
import { createBodyHashes, hashBody } from './body-hashes.ts'
import { bounded } from './bounded-head.ts'
import { bodyOf, withCrLf } from './checks.ts'
import type { SealName } from './inbound-result.ts'

/** Canonical header text → its signature (RSA, PKCS#1 v1.5 over SHA-256). Rejects when the key is unusable. */
export type SignSeal = (text: Uint8Array) => Promise<Uint8Array>

/** Mail as it will be forwarded, its Authentication-Results payload and its chain state → the fields of our ARC set, each with
 *  its line end, to be prepended. Empty when its chain is broken or full (50 sets), when its header exceeds HEAD_LIMITS or
 *  is malformed (bounded-head.ts), or when the key is unusable. This builds the two signed texts and calls `sign` for each;
 *  the key is elsewhere. RFC 8617 §4.1, §5.1. */
export async function arcFieldsOf(
  mail: Buffer,
  chain: ArcResult,
  authResults: string,
  name: SealName,
  signedAt: number,
  sign: SignSeal,
): Promise<Buffer> {
  const { raw, fault } = bounded(mail)
  if (chain === 'fail' || fault !== null || raw.length !== mail.length) return Buffer.alloc(0)
  const set = await arcSet(await hashed(mail), chain, authResults, name, signedAt, sign).catch(() => null)
  return Buffer.from((set ?? []).map((field) => `${field}\r\n`).join(''))
}

/** The part of mailauth's signer that needs no key: it parses the header and keeps the body hash. */
class KeylessSigner extends DkimSigner {
  constructor() {
    super({ strict: true, getARChain })
    this.bodyHashes.set(BODY_HASH, { bodyCanon: 'relaxed', hashAlgo: 'sha256', hasher: null, hash: null })
  }

  override async finalize(): Promise<void> {}
}

const BODY_HASH = 'relaxed:sha256:'
const ALGORITHM = 'rsa-sha256' // the only algorithm of RFC 8617 §4.1.3
const MAX_SETS = 50 // RFC 8617 §4.2.1

async function hashed(mail: Buffer): Promise<KeylessSigner> {
  const signer = new KeylessSigner()
  const raw = withCrLf(mail)
  const bodyAt = bodyOf(raw)
  await signer.emitHeaders(raw.subarray(0, bodyAt))
  const hashes = createBodyHashes()
  signer.bodyHashes.get(BODY_HASH)!.hasher = hashes.add(true, 'sha256', Number.POSITIVE_INFINITY)
  await hashBody(hashes, raw.subarray(bodyAt))
  await signer.finalChunk()
  return signer
}

/** Returns ARC-Seal, ARC-Message-Signature and ARC-Authentication-Results without line ends; null when no set is
 *  possible. */
async function arcSet(
  signer: KeylessSigner,
  cv: ArcResult,
  authResults: string,
  { domain, selector }: SealName,
  signedAt: number,
  sign: SignSeal,
): Promise<string[] | null> {
  const { headers, arc, bodyHashes } = signer
  const links = arc.chain || []
  const hasSets = headers.parsed.some(({ key }) => key === 'arc-seal' || key === 'arc-message-signature')
  if (arc.error !== undefined || links.length >= MAX_SETS) return null
  // A passing chain is signed whole; without a chain there must be no set (RFC 8617 §5.1.1, §5.2).
  if ((cv === 'pass') !== links.length > 0 || (cv !== 'pass' && hasSets)) return null
  const i = links.length + 1
  const t = Math.floor(signedAt / 1000)
  const b64 = (signature: Uint8Array) => Buffer.from(signature).toString('base64')

  const lines = getSigningHeaderLines(headers.parsed, signer.getFieldNames({ type: 'ARC' }))
  if (!lines.headers.some(({ key }) => key === 'from')) return null
  const { canonicalizedHeader, dkimHeaderOpts } = generateCanonicalizedHeader('ARC', lines, {
    type: 'ARC',
    signingDomain: domain,
    selector,
    algorithm: ALGORITHM,
    canonicalization: 'relaxed/relaxed',
    instance: i,
    timestamp: t,
    expiration: false,
    identity: false,
    bodyHash: bodyHashes.get(BODY_HASH)!.hash,
    strict: true,
  })
  const b = b64(await sign(canonicalizedHeader))
  const messageSignature = formatSignatureHeaderLine('ARC', { ...dkimHeaderOpts, b }, true)

  const results = `ARC-Authentication-Results: i=${i}; ${authResults}`
  const tags = { i, a: ALGORITHM, t, cv, d: domain, s: selector }
  // Its own signature counts as empty; the line folds as if one were present.
  const unsigned = formatSignatureHeaderLine('AS', { ...tags, b: 'a'.repeat(73) }, true)
  const ownFields = links.flatMap((link) => SET.map((key) => formatRelaxedLine(link[key]!.original, '\r\n')))
  const text = Buffer.concat([
    ...ownFields,
    formatRelaxedLine(results, '\r\n'),
    formatRelaxedLine(messageSignature, '\r\n'),
    stripSignatureValue(formatRelaxedLine(unsigned)),
  ])
  const seal = formatSignatureHeaderLine('AS', { ...tags, b: b64(await sign(text)) }, true)
  return [seal, messageSignature, results]
}

const SET = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const
