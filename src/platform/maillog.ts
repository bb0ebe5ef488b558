import type { Log } from './log.ts'

/** The closed list of mail facts: what an operator greps for. Ids always; subjects, bodies and secrets never. */
export interface MailLog {
  accepted(fact: { message: string; mode: string; recipients: number; sizeBytes: number }): void
  delivered(fact: Attempted): void
  deferred(fact: Attempted & { nextAttemptAt: number | null }): void
  bounced(fact: Attempted & { type: string }): void
  webhookFailed(fact: { webhook: string; delivery: string; attempt: number; error: string }): void
  webhookPaused(fact: { webhook: string; reason: string }): void
  suppressed(fact: { message: string; recipients: number }): void
}

interface Attempted {
  message: string
  delivery: string
  attempt: number
  host: string | null
  durationMs: number
  reply: string | null
}

export function createMailLog(log: Log): MailLog {
  return {
    accepted: (fact) => log.info('accepted', { ...fact }),
    delivered: (fact) => log.info('delivered', { ...fact }),
    deferred: ({ nextAttemptAt, ...fact }) =>
      log.info('deferred', { ...fact, next: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString() }),
    bounced: (fact) => log.info('bounced', { ...fact }),
    webhookFailed: (fact) => log.warn('webhook failed', { ...fact }),
    webhookPaused: (fact) => log.warn('webhook paused', { ...fact }),
    suppressed: (fact) => log.info('suppressed', { ...fact }),
  }
}
