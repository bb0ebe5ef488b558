import { canonicalLocal, parseMailbox, toALabel } from '../mail/address.ts'
import type { Message, Mode } from './message.ts'
import type { SuppressionReason } from './suppression-reasons.ts'

export { SUPPRESSION_REASONS, type SuppressionReason } from './suppression-reasons.ts'

/** An address that Postrider does not send to, and the reason. */
export interface Suppression {
  id: string
  organizationId: string
  /** Null = the whole organization. */
  domainId: string | null
  /** Null = every stream. A complaint about one stream also counts for every other one but `transactional`. */
  stream: string | null
  /** Folded by `suppressionKey`. */
  email: string
  reason: SuppressionReason
  messageId: string | null
  createdAt: number
  /** Evidence text from the import, if any. */
  evidence: string | null
  /** `test`: created by a test key; applies to test messages only. */
  mode: Mode
}

/** Streams that a complaint counts for: its own and every other one but `transactional`, or every stream. */
export type ComplaintScope = 'non_transactional' | 'all'

/** What a suppression applies to, as a key. A list has at most one for each. A complaint about a stream counts for others
 *  too, so it is kept beside an unsubscription from the same stream. */
export function reachOf({ organizationId, email, domainId, mode, stream, reason }: Suppression): string {
  return JSON.stringify([organizationId, email, domainId, mode, stream, stream !== null && reason === 'complaint'])
}

/** Address, or a part of one → the form in which suppressions are compared, with A-labels. Local parts are case-sensitive
 *  by the standard only: in practice `Ann@` and `ann@` reach the same person, who has opted out. */
export function suppressionKey(email: string): string {
  const folded = email.toLowerCase()
  const at = folded.lastIndexOf('@')
  if (at < 0) return folded
  const domain = folded.slice(at + 1)
  return `${canonicalLocal(folded.slice(0, at))}@${toALabel(domain) ?? domain}`
}

/** Turns what somebody typed (an address with or without a display name, a domain, or the beginning of either) into the
 *  form in which stored addresses begin with it. A name of several labels that is not ASCII is read as a domain. */
export function pastedKey(text: string): string {
  const trimmed = text.trim()
  return suppressionKey(parseMailbox(trimmed)?.address ?? toALabel(trimmed) ?? trimmed)
}

/** Reason and recipient of a message → the resulting suppression. A complaint or an unsubscribe request applies to
 *  the sender's domain and the stream of the message. A mailbox that does not exist is suppressed for the whole
 *  organization and every stream. For a message without a stream, the suppression applies to every stream. */
export function suppressionOf(
  id: string,
  reason: Exclude<SuppressionReason, 'manual'>,
  message: Pick<Message, 'id' | 'organizationId' | 'domainId'> & { stream?: string | null },
  recipient: string,
  at: number,
): Suppression {
  return {
    id,
    organizationId: message.organizationId,
    domainId: reason === 'hard_bounce' ? null : message.domainId,
    stream: reason === 'hard_bounce' ? null : (message.stream ?? null),
    email: suppressionKey(recipient),
    reason,
    messageId: message.id,
    createdAt: at,
    evidence: null,
    mode: 'live', // test mail suppresses nothing
  }
}
