import type { Message, Mode } from './message.ts'

/** An address we will not send to, and why. */
export interface Suppression {
  id: string
  organizationId: string
  /** Null = the whole organization. */
  domainId: string | null
  /** Folded by `suppressionKey`. */
  email: string
  reason: SuppressionReason
  messageId: string | null
  createdAt: number
  /** What was said of it where it was imported from. */
  evidence: string | null
  /** `test`: made by a test key, and holds for test messages only. */
  mode: Mode
}

export type SuppressionReason = 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
export const SUPPRESSION_REASONS: readonly SuppressionReason[] = ['hard_bounce', 'complaint', 'unsubscribe', 'manual']

/** Address → the form suppressions are compared in. Local parts are case-sensitive on paper and nowhere
 *  else: mail to `Ann@` and `ann@` reaches the same person, who has said no. */
export function suppressionKey(email: string): string {
  return email.toLowerCase()
}

/** Why, and a recipient of a message → the suppression that follows. Who complains or stops says so to the sender's domain;
 *  an address that does not exist exists for nobody. */
export function suppressionOf(
  id: string,
  reason: Exclude<SuppressionReason, 'manual'>,
  message: Pick<Message, 'id' | 'organizationId' | 'domainId'>,
  recipient: string,
  at: number,
): Suppression {
  return {
    id,
    organizationId: message.organizationId,
    domainId: reason === 'hard_bounce' ? null : message.domainId,
    email: suppressionKey(recipient),
    reason,
    messageId: message.id,
    createdAt: at,
    evidence: null,
    mode: 'live', // test mail suppresses nothing
  }
}
