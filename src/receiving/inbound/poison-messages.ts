import { setNewest } from '../../os/set-newest.ts'

/** Digests of mails that crashed two readers, so that a retry of such a mail is stored instead of deferred again. In
 *  memory only: after a restart the mail is read and deferred once more, then stored; senders retry for days. */
export interface PoisonMessages {
  /** Whether any recorded mail has this size. Only then is a digest worth computing. */
  mayHave(sizeBytes: number): boolean
  has(digest: Uint8Array, now: number): boolean
  add(digest: Uint8Array, sizeBytes: number, now: number): void
}

const POISON_LIMITS = {
  /** Beyond this the oldest is dropped: its sender is deferred once more. */
  mails: 1_000,
  /** RFC 5321 §4.5.4.1 asks senders to retry for 4 to 5 days. */
  keptMs: 6 * 86_400_000,
}

export function createPoisonMessages(limits = POISON_LIMITS): PoisonMessages {
  const known = new Map<string, { sizeBytes: number; at: number }>()
  const nameOf = (digest: Uint8Array) => Buffer.from(digest).toString('base64')
  return {
    mayHave: (sizeBytes) => known.size > 0 && known.values().some((each) => each.sizeBytes === sizeBytes),
    has: (digest, now) => {
      const name = nameOf(digest)
      const found = known.get(name)
      if (found === undefined) return false
      if (now - found.at <= limits.keptMs) return true
      known.delete(name)
      return false
    },
    add: (digest, sizeBytes, now) => {
      setNewest(known, nameOf(digest), { sizeBytes, at: now }, limits.mails)
    },
  }
}
