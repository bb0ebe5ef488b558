import type { Attempt, Outcome } from '../model/delivery.ts'

/** How an attempt ended that met no server, and when it ran (ms UTC) → its record. */
export function notAttempted(
  outcome: Exclude<Outcome, { kind: 'delivered' }>,
  { number, startedAt, endedAt }: { number: number; startedAt: number; endedAt: number },
): Attempt {
  return {
    number,
    startedAt,
    durationMs: endedAt - startedAt,
    outcome: outcome.kind,
    mxHost: null,
    mxAddress: null,
    sourceAddress: null,
    tlsVersion: null,
    tlsCipher: null,
    tlsVerified: false,
    tlsPolicy: 'none',
    reply: null,
    enhancedCode: null,
    cause: outcome.cause,
    transcript: '',
  }
}
