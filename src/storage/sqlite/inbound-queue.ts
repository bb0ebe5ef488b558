import type { DueIndex } from '../due-index.ts'
import type { Connection } from './driver.ts'
import type { InboundRouteCache } from './endpoints.ts'

const ADD = `insert into inbound_deliveries (id, message_number, route_id, status, attempts, next_attempt_at, created_at)
  values (?, ?, ?, ?, 0, ?, ?)`
const SET_STATUS = 'update inbound_messages set delivery_status = ? where number = ?'

/** Writes the delivery of a message to its route, due at `at`, inside the change that causes it. If the route was
 *  deleted meanwhile, the delivery fails immediately. */
export type QueueInboundInside = (
  delivery: { id: string; messageNumber: number | bigint; routeId: string },
  at: number,
) => void

export function queueInboundInside(db: Connection, routes: InboundRouteCache, dueIndex: DueIndex): QueueInboundInside {
  const add = db.prepare(ADD)
  const setStatus = db.prepare(SET_STATUS)
  return ({ id, messageNumber, routeId }, at) => {
    const status = routes.get(routeId) === null ? 'failed' : 'pending'
    add.run(id, messageNumber, routeId, status, status === 'pending' ? at : null, at)
    setStatus.run(status, messageNumber)
    if (status === 'pending') dueIndex.offer(routeId, at)
  }
}
