/** A canary is a mail that the server sends to itself, or to a mailbox of the operator elsewhere, to learn whether its mail
 *  arrives. */

/** `pending`: on its way. `inbox`: it arrived in time. `unauthenticated`: it arrived, but SPF, DKIM or DMARC did not
 *  pass. `missing`: it did not arrive in time. `unchecked`: nobody could look into the mailbox. */
export const CANARY_RESULTS = ['pending', 'inbox', 'late', 'spam', 'unauthenticated', 'missing', 'unchecked'] as const
export type CanaryResult = (typeof CANARY_RESULTS)[number]

/** Times are ms UTC. */
export interface Canary {
  id: string
  /** Name of the mailbox in the config, or OWN_LISTENER. */
  mailbox: string
  /** The interval that the mail is for: a mailbox gets one mail for each. */
  dueAt: number
  sentAt: number
  result: CanaryResult
  arrivedAt: number | null
  /** The verdicts, or why there is no better result. */
  detail: string | null
}

/** What a canary came to. */
export type CanaryEnd = Pick<Canary, 'result' | 'arrivedAt' | 'detail'>

/** In place of a mailbox: our own inbound listener. No mailbox in the config may have this name. */
export const OWN_LISTENER = 'self'

/** A mail that arrived → its result. */
export function arrivalOf(
  { sentAt }: Pick<Canary, 'sentAt'>,
  arrival: { at: number; place: 'inbox' | 'spam'; fault: string | null },
  lateAfterMs: number,
): CanaryEnd {
  const { place, fault } = arrival
  const arrivedAt = Math.max(sentAt, arrival.at)
  if (place === 'spam') return { result: 'spam', arrivedAt, detail: fault }
  if (fault !== null) return { result: 'unauthenticated', arrivedAt, detail: fault }
  return { result: arrivedAt - sentAt > lateAfterMs ? 'late' : 'inbox', arrivedAt, detail: null }
}

/** Mails to one mailbox that may be on their way at a time. */
export const MOST_ON_THE_WAY = 20
/** How long results are kept. */
export const CANARIES_KEPT_MS = 30 * 24 * 3_600_000
/** How long after it was sent a mail that did not arrive is still looked for. */
export const CANARY_SOUGHT_MS = 24 * 3_600_000
