import type { ARCChainEntry } from 'mailauth'
import { getARChain } from 'mailauth/lib/arc'
import { generateCanonicalizedHeader } from 'mailauth/lib/dkim/header'
import {
  defaultARCFieldNames,
  formatRelaxedLine,
  formatSignatureHeaderLine,
  getSigningHeaderLines,
  stripSignatureValue,
} from 'mailauth/lib/tools'
import { trimBlanks } from '../../mail/blanks.ts'
import type { ArcResult } from '../../model/inbound-message.ts'
import { hashBody } from './body-hashes.ts'
import { bounded } from './bounded-head.ts'
import { wholeMail } from './checks.ts'
import type { SealName } from './inbound-result.ts'
import type { MailField } from './signatures.ts'

/** Canonical header text → its signature (RSA, PKCS#1 v1.5 over SHA-256). Rejects when the key is unusable. */
export type SignSeal = (text: Uint8Array) => Promise<Uint8Array>

/** A mail to be forwarded: what all its seals sign. */
export interface UnsealedMail {
  /** The fields that a message signature covers. */
  signed: SigningLines
  /** In base64, of the relaxed body. */
  bodyHash: string
  /** The number of ARC sets so far, and their canonical fields. */
  sets: number
  setFields: Buffer
}

/** Mail as it will be forwarded and its chain state → what its seals sign. Null when no set is possible: its chain is
 *  broken or full (50 sets), its header exceeds HEAD_LIMITS or is malformed (bounded-head.ts), or it has no From. */
export async function unsealedMail(mail: Buffer, chain: ArcResult): Promise<UnsealedMail | null> {
  const { raw, fault } = bounded(mail)
  if (chain === 'fail' || fault !== null || raw.length !== mail.length) return null
  // Not by mailauth's header parser, which takes quadratic time for CRs in a row.
  const { fields, body } = wholeMail(mail)
  const links = linksOf(fields)
  if (links === null || links.length >= MAX_SETS) return null
  const hasSets = fields.some(({ key }) => key === 'arc-seal' || key === 'arc-message-signature')
  // A passing chain is signed whole; without a chain there must be no set (RFC 8617 §5.1.1, §5.2).
  if ((chain === 'pass') !== links.length > 0 || (chain !== 'pass' && hasSets)) return null
  const named = fields.map((field) => ({
    ...field,
    casedKey: trimBlanks(field.line.slice(0, field.line.indexOf(':'))),
  }))
  const signed = getSigningHeaderLines(named, defaultARCFieldNames)
  if (!signed.headers.some(({ key }) => key === 'from')) return null
  const { hash } = await hashBody(body, true, 'sha256')
  // getARChain returns only complete sets.
  const setFields = links.flatMap((link) => SET.map((key) => formatRelaxedLine(link[key]!.original!, '\r\n')))
  return { signed, bodyHash: hash, sets: links.length, setFields: Buffer.concat(setFields) }
}

const ALGORITHM = 'rsa-sha256' // the only algorithm of RFC 8617 §4.1.3
const MAX_SETS = 50 // RFC 8617 §4.2.1
const SET = ['arc-authentication-results', 'arc-message-signature', 'arc-seal'] as const

/** Null for sets that are no chain. */
function linksOf(fields: readonly MailField[]): ARCChainEntry[] | null {
  const parsed = fields
    .filter(({ key }) => key.startsWith('arc-'))
    .map(({ key, line }) => ({ key, line: Buffer.from(line, 'latin1') }))
  try {
    return getARChain({ parsed }, { strict: true }) || []
  } catch {
    return null
  }
}

/** Its Authentication-Results payload → the fields of our ARC set, each with its line end, to be prepended. Empty when
 *  the key is unusable. This builds the two signed texts and calls `sign` for each; the key is elsewhere. RFC 8617
 *  §4.1, §5.1. */
export async function arcFieldsOf(
  mail: UnsealedMail,
  authResults: string,
  name: SealName,
  signedAt: number,
  sign: SignSeal,
): Promise<Buffer> {
  const set = await arcSet(mail, authResults, name, signedAt, sign).catch(() => [])
  return Buffer.from(set.map((field) => `${field}\r\n`).join(''))
}

/** Returns ARC-Seal, ARC-Message-Signature and ARC-Authentication-Results without line ends. */
async function arcSet(
  { signed, bodyHash, sets, setFields }: UnsealedMail,
  authResults: string,
  { domain, selector }: SealName,
  signedAt: number,
  sign: SignSeal,
): Promise<string[]> {
  const i = sets + 1
  const t = Math.floor(signedAt / 1000)
  const b64 = (signature: Uint8Array) => Buffer.from(signature).toString('base64')

  const { canonicalizedHeader, dkimHeaderOpts } = generateCanonicalizedHeader('ARC', signed, {
    type: 'ARC',
    signingDomain: domain,
    selector,
    algorithm: ALGORITHM,
    canonicalization: 'relaxed/relaxed',
    instance: i,
    timestamp: t,
    expiration: false,
    identity: false,
    bodyHash,
    strict: true,
  })
  const b = b64(await sign(canonicalizedHeader))
  const messageSignature = formatSignatureHeaderLine('ARC', { ...dkimHeaderOpts, b }, true)

  const results = `ARC-Authentication-Results: i=${i}; ${authResults}`
  const cv = sets > 0 ? 'pass' : 'none'
  const tags = { i, a: ALGORITHM, t, cv, d: domain, s: selector }
  // Its own signature counts as empty; the line folds as if one were present.
  const unsigned = formatSignatureHeaderLine('AS', { ...tags, b: 'a'.repeat(73) }, true)
  const text = Buffer.concat([
    setFields,
    formatRelaxedLine(results, '\r\n'),
    formatRelaxedLine(messageSignature, '\r\n'),
    stripSignatureValue(formatRelaxedLine(unsigned)),
  ])
  const seal = formatSignatureHeaderLine('AS', { ...tags, b: b64(await sign(text)) }, true)
  return [seal, messageSignature, results]
}
