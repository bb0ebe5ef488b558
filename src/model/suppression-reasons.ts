/** Why an address is suppressed. Alone in this file, because the dashboard loads it too. */
export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]
