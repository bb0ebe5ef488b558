import { type ErasedCounts, type Erasure, NOTHING_ERASED } from '../model/erasure.ts'

/** A row of `erasures`; `removed` is JSON. */
export type ErasureRow = Omit<Erasure, 'removed'> & { removed: string }

/** A running one: its address encrypted, and the step that follows. */
export type ErasureJobRow<Flag> = ErasureRow & { address: Uint8Array; step: number; after: string; isWaiting: Flag }

export const toErasure = ({
  removed,
  id,
  organizationId,
  addressHash,
  createdAt,
  finishedAt,
}: ErasureRow): Erasure => ({
  id,
  organizationId,
  addressHash,
  createdAt,
  finishedAt,
  removed: JSON.parse(removed),
})

/** What an erasure removed so far (JSON), and what a step removed → both, as JSON. */
export function withRemoved(removed: string, more: Partial<ErasedCounts>): string {
  const sum: ErasedCounts = { ...JSON.parse(removed) }
  for (const name of Object.keys(NOTHING_ERASED) as (keyof ErasedCounts)[]) sum[name] += more[name] ?? 0
  return JSON.stringify(sum)
}

/** ID of an erasure → what its encrypted address is bound to (Encryption). */
export const placeOfAddress = (id: string) => `erasures ${id}`
