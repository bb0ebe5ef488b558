// What mailauth has no types for.

interface KeyAnswer {
  publicKey: string | import('node:crypto').KeyObject
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
  export function getAlignment(from: string, domains: string[], strict: boolean): { domain: string } | false
  export function toALabel(domain: string): string
}

declare module 'mailauth/lib/dkim/dkim-verifier' {
  import type { Writable } from 'node:stream'
  import type { ARCData, DKIMResult, DKIMVerifyOptions } from 'mailauth'

  /** A stream, of which these are the steps. */
  export class DkimVerifier extends Writable {
    constructor(options: DKIMVerifyOptions)
    keyCache: KeyCache
    arc: ARCData
    results: DKIMResult[]
    headerFrom: string[]
    fromFields: number
    bodyHashes: Map<string, { setContentType(type: unknown): void }>
    addBodyHash(canonicalization: string, algorithm: string, mostBytes: number | ''): string
    /** All of the header, its last empty line included: tells `messageHeaders`. */
    emitHeaders(header: Buffer): Promise<void>
    /** Of the body; lines end in CRLF. */
    nextChunk(piece: Buffer): Promise<void>
    finish(): Promise<void>
  }
}
