import type { Verp } from '../mail/verp.ts'

/** What an address at the host of a return path is for. */
export type FeedbackAddress =
  | { kind: 'bounce' | 'unsubscribe'; deliveryId: string }
  /** Where feedback loops send their reports when they have no return path to send them to. */
  | { kind: 'complaints' }

/** Local part at the host of a return path → what it is for, in any letter case; null for everything else, a tag that
 *  is not ours among it. RFC 2142 names abuse@ and postmaster@; providers ask for one of the others when a loop is
 *  set up. */
export function recognizeAddress(local: string, verp: Verp): FeedbackAddress | null {
  const keyed = verp.decode(local)
  if (keyed !== null) return keyed
  return COMPLAINTS.has(local.toLowerCase()) ? { kind: 'complaints' } : null
}

const COMPLAINTS = new Set(['complaints', 'fbl', 'abuse', 'postmaster'])
