import type { Attempt, Outcome } from '../model/delivery.ts'

/** Outcome and times (ms UTC) of an attempt that reached no server → its record. */
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
