import type { Workers } from '../store.ts'
import type { Reads } from './reads.ts'

const OTHERS = 'select distinct worker from workers where worker <> $1'

/** Workers of one node: every other one has ended. */
export function postgresWorkers(reads: Reads): Workers {
  return {
    ended: async (self) => (await reads.query<{ worker: string }>(OTHERS, [self])).map(({ worker }) => worker),
  }
}
