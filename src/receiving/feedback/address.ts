import type { Verp } from '../../mail/verp.ts'

/** The purpose of an address at a return path host. */
export type FeedbackAddress =
  | { kind: 'bounce' | 'unsubscribe'; deliveryId: string }
  /** For feedback loop reports without a return path to send to. */
  | { kind: 'complaints' }

/** Local part at a return path host → its purpose, in any letter case; null for everything else, including tags that
 *  are not ours. RFC 2142 defines abuse@ and postmaster@; providers ask for one of the others when a feedback loop is
 *  set up. */
export function recognizeAddress(local: string, verp: Verp): FeedbackAddress | null {
  const keyed = verp.decode(local)
  if (keyed !== null) return keyed
  return COMPLAINTS.has(local.toLowerCase()) ? { kind: 'complaints' } : null
}

const COMPLAINTS = new Set(['complaints', 'fbl', 'abuse', 'postmaster'])
