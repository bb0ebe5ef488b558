import type { RelayCount } from '../model/relay.ts'

/** A row of relay_counts. */
export type CountRow = Omit<RelayCount, 'lastError'> & { failedAt: number | null; error: string | null }

export const toRelayCount = ({ failedAt, error, ...row }: CountRow): RelayCount => ({
  ...row,
  lastError: failedAt === null || error === null ? null : { at: failedAt, message: error },
})
