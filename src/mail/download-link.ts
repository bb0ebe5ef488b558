import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a download link gives: a received message as it came, or its attachment at this position, from 1. */
export interface Download {
  inboundMessageId: string
  part: 'raw' | number
}

/** Links that download a part of a received message without a key, for a limited time. */
export interface DownloadLinks {
  /** `/downloads/<token>`, valid until `expiresAt` (ms UTC). */
  make(download: Download, expiresAt: number): string
  /** Request path → its meaning; null if it was not made here, or has expired at `now`. */
  read(path: string, now: number): Download | null
}

/** Secret → the links it authenticates. A token is the data and 128 bits of HMAC-SHA256 over it. Reading never throws
 *  and compares in constant time. */
export function createDownloadLinks(secret: Uint8Array): DownloadLinks {
  const tagOf = (facts: string) =>
    createHmac('sha256', secret).update(`download ${facts}`).digest().toString('base64url', 0, TAG_BYTES)
  return {
    make: ({ inboundMessageId, part }, expiresAt) => {
      const facts = `${inboundMessageId}.${part}.${expiresAt}`
      return `/downloads/${facts}.${tagOf(facts)}`
    },
    read: (path, now) => {
      const [, facts = '', inboundMessageId = '', part = '', expiresAt = '', tag = ''] = PATH.exec(path) ?? []
      if (facts === '' || !timingSafeEqual(Buffer.from(tag), Buffer.from(tagOf(facts)))) return null
      if (now >= Number(expiresAt)) return null
      return { inboundMessageId, part: part === 'raw' ? part : Number(part) }
    },
  }
}

/** How long a link works, as at Resend. */
export const DOWNLOAD_MS = 3_600_000
const TAG_BYTES = 16
const PATH = /^\/downloads\/((inb_[0-9a-z]{26})\.(raw|[1-9]\d{0,3})\.(\d{1,15}))\.([\w-]{22})$/
