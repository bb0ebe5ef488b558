import type { QueueName } from '../mail/queue-tables.ts'
import type { ClaimQueue, ClaimRequest, Deliveries } from '../store.ts'
import type { Distribution } from './distribution.ts'

type Node = Pick<Distribution, 'held' | 'mayClaim'>

/** A queue whose results have the ID of what was claimed. */
interface Queue<Claim, Request extends ClaimRequest, Result, Answer> extends ClaimQueue<Claim, Request> {
  record(result: Result): Promise<Answer>
}

/** A queue as a node uses it: it claims only while it may, and counts what it holds. */
export function onNode<Claim, Request extends ClaimRequest, Result extends { deliveryId: string }, Answer>(
  queue: Queue<Claim, Request, Result, Answer>,
  node: Node,
  { name, idOf }: { name: QueueName; idOf: (claim: Claim) => string },
): Pick<typeof queue, 'nextDueAt' | 'planClaims' | 'claimDue' | 'release' | 'endLeases' | 'record'> {
  const { held } = node
  return {
    nextDueAt: async (look, now) => (node.mayClaim() ? queue.nextDueAt(look, now) : null),
    planClaims: async (request) => (node.mayClaim() ? queue.planClaims(request) : []),
    claimDue: async (request) => {
      const claims = await queue.claimDue(request)
      held.add(name, request.worker, claims.map(idOf))
      return claims
    },
    release: async (claims, dueAt) => {
      await queue.release(claims, dueAt)
      held.remove(claims.map(({ id }) => id))
    },
    endLeases: async (worker, underWay, now) => {
      const count = await queue.endLeases(worker, underWay, now)
      held.keep(name, worker, underWay)
      return count
    },
    record: async (result) => {
      const answer = await queue.record(result)
      held.remove([result.deliveryId])
      return answer
    },
  }
}

/** The same for deliveries, which are also claimed when they expire, and end when their recipient is suppressed. */
export function deliveriesOnNode(deliveries: Deliveries, node: Node): Deliveries {
  const { held } = node
  return {
    ...deliveries,
    ...onNode(deliveries, node, { name: 'deliveries', idOf: ({ delivery }) => delivery.id }),
    claimExpired: async (request) => {
      if (!node.mayClaim()) return []
      const claims = await deliveries.claimExpired(request)
      const ids = claims.map(({ delivery }) => delivery.id)
      held.add('deliveries', request.worker, ids)
      return claims
    },
    recordSuppressed: async (claim, event) => {
      const answer = await deliveries.recordSuppressed(claim, event)
      held.remove([claim.id])
      return answer
    },
  }
}
