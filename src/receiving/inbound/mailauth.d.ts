// Types that mailauth does not declare.

interface KeyAnswer {
  publicKey: string | import('node:crypto').KeyObject
  keyType: string
  flags: string[]
}

interface KeyCache {
  resolver: import('mailauth').DNSResolver
  get(
    type: string,
    name: string,
    minBitLength: number | undefined,
    options: { strict: boolean; hashAlgo: string },
  ): Promise<KeyAnswer>
}

declare module 'mailauth/lib/tools' {
  export function createKeyCache(resolver: import('mailauth').DNSResolver): KeyCache
  export function toALabel(domain: string): string
  export function formatDomain(domain: string): string
  /** An unchanged field in latin1 → its relaxed canonical form. */
  export function formatRelaxedLine(line: string | Buffer, suffix?: string): Buffer
  /** The same line with an empty b=. */
  export function stripSignatureValue(line: Buffer): Buffer
  /** Formats an ARC-Message-Signature (`ARC`) or ARC-Seal (`AS`). */
  export function formatSignatureHeaderLine(type: 'ARC' | 'AS', tags: Record<string, unknown>, folded: boolean): string
  /** The names of the fields that an ARC-Message-Signature covers, separated by colons. */
  export const defaultARCFieldNames: string
  /** `casedKey`: the name as written, for h=. */
  export function getSigningHeaderLines(fields: HeaderLine[], names: string): SigningLines
}

interface HeaderLine {
  key: string
  casedKey: string
  line: string
}

interface SigningLines {
  keys: string
  headers: HeaderLine[]
}

declare module 'mailauth/lib/dkim/header' {
  export function generateCanonicalizedHeader(
    type: string,
    lines: SigningLines,
    options: Record<string, unknown>,
  ): { canonicalizedHeader: Buffer; dkimHeaderOpts: Record<string, unknown> }
}

declare module 'mailauth/lib/dkim/dkim-verifier' {
  import type { ARCData, DKIMResult, DKIMVerifyOptions } from 'mailauth'

  interface ParsedHeader {
    /** A text is latin1. */
    parsed: readonly { key: string; line: string | Buffer }[]
  }

  /** A DKIM-Signature or ARC-Message-Signature, before its key is known. */
  export interface SignatureField {
    type: 'DKIM' | 'ARC'
    /** Why mailauth does not process it, or why it is invalid. */
    skip?: string
    invalid?: string
    original: Buffer
    /** By tag; b= and h= have no blanks. */
    parsed: Readonly<Record<string, { value: string | number } | undefined>>
    signingDomain: string
    selector: string
    algorithm: string
    hashAlgo: string
    canonicalization: string
    bodyCanon: string
    /** l=; '' without. */
    maxBodyLength: number | ''
    bodyHashKey: string
  }

  export class DkimVerifier {
    constructor(options: DKIMVerifyOptions)
    headers: ParsedHeader
    signatureHeaders: SignatureField[]
    bodyHashes: Map<string, { hash: string; canonicalizedLength: number }>
    /** `arc` reads its keys from the same cache. */
    arc: ARCData
    keyCache: KeyCache
    headerFrom: string[]
    fromFields: number
    /** Reads signatures, the ARC chain and the authors. */
    messageHeaders(header: ParsedHeader): Promise<void>
    /** Reads the tags into the other fields. */
    prepareSignature(signature: SignatureField): void
    verifySignature(signature: SignatureField): Promise<DKIMResult>
  }
}

declare module 'mailauth/lib/dkim/body' {
  export class BodyHash {
    update(piece: Uint8Array): void
    digest(encoding: 'base64'): string
    canonicalizedLength: number
  }

  /** `mostBytes`: l=; '' without. */
  export function dkimBody(canonicalization: string, algorithm: string, mostBytes: number | ''): BodyHash
}
