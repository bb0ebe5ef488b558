import type { Blocker, ClaimQueue, ClaimRequest, Look } from '../../src/storage/store.ts'

/** Everything may start. */
export const ANY: Look = () => ({ quotas: [] })
/** Nothing may start. */
export const NONE: Look = () => false

/** What tests change in a claim of everything that is due. */
export type ClaimChange<Request = ClaimRequest> = Partial<Omit<Request, 'plan'> & { freeFor: FreeFor }>

type FreeFor = (key: string, dueAt: number) => number | Blocker

/** How many of each key may start, or its blocker. */
export function lookOf(freeFor: FreeFor): Look {
  return (key, dueAt) => {
    const free = freeFor(key, dueAt)
    if (typeof free !== 'number') return free
    return free > 0 && { quotas: [{ name: `test ${key}`, most: free }] }
  }
}

/** Plans and claims in one step: at most `freeFor` of each key (absent = any number). */
export async function claimDue<Claim, Request extends ClaimRequest>(
  queue: ClaimQueue<Claim, Request>,
  { freeFor, ...request }: Omit<Request, 'plan'> & { freeFor?: FreeFor },
): Promise<Claim[]> {
  const look = freeFor === undefined ? ANY : lookOf(freeFor)
  const { now, limit } = request as unknown as ClaimRequest
  const plan = await queue.planClaims({ now, limit, look })
  return queue.claimDue({ ...request, plan } as unknown as Request).catch(async (error) => {
    await queue.putBack(plan)
    throw error
  })
}
