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
  export function formatDomain(domain: string): string
  export function toALabel(domain: string): string
  /** An unchanged field in latin1 → its relaxed canonical form. */
  export function formatRelaxedLine(line: string, suffix?: string): Buffer
  /** The same line with an empty b=. */
  export function stripSignatureValue(line: Buffer): Buffer
  /** Formats an ARC-Message-Signature (`ARC`) or ARC-Seal (`AS`). */
  export function formatSignatureHeaderLine(type: 'ARC' | 'AS', tags: Record<string, unknown>, folded: boolean): string
  export function getSigningHeaderLines(fields: HeaderLine[], names: string): SigningLines
}

interface HeaderLine {
  key: string
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

declare module 'mailauth/lib/dkim/dkim-signer' {
  type ArcLink = Record<string, { original: string }>

  export class DkimSigner {
    constructor(options: Record<string, unknown>)
    headers: { parsed: HeaderLine[] }
    arc: { chain: ArcLink[] | false; error?: unknown }
    bodyHashes: Map<string, { bodyCanon: string; hashAlgo: string; hasher: unknown; hash: string | null }>
    getFieldNames(signature: { type: 'ARC' }): string
    emitHeaders(header: Buffer): Promise<void>
    /** Completes the body hashes, then calls finalize, which signs. */
    finalChunk(): Promise<void>
    finalize(): Promise<void>
  }
}

declare module 'mailauth/lib/dkim/body' {
  export function dkimBody(
    canonicalization: string,
    algorithm: string,
    mostBytes: number | '',
  ): {
    update(piece: Uint8Array): void
    digest(encoding: 'base64'): string
    canonicalizedLength: number
    bodyHashedBytes: number
  }
}
