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
}

export type SuppressionReason = 'hard_bounce' | 'complaint' | 'unsubscribe' | 'manual'
export const SUPPRESSION_REASONS: readonly SuppressionReason[] = ['hard_bounce', 'complaint', 'unsubscribe', 'manual']

/** Address → the form suppressions are compared in. Local parts are case-sensitive on paper and nowhere
 *  else: mail to `Ann@` and `ann@` reaches the same person, who has said no. */
export function suppressionKey(email: string): string {
  return email.toLowerCase()
}
