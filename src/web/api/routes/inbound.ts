import type { Operation } from '../operation.ts'
import { type InboundMessageDeps, inboundMessageOperations } from './inbound-messages.ts'
import { type InboundRouteDeps, inboundRouteOperations } from './inbound-routes.ts'

/** The operations of `/v1/inbound-routes` and `/v1/inbound-messages`. */
export function inboundOperations(deps: InboundRouteDeps & InboundMessageDeps): Operation[] {
  return [...inboundRouteOperations(deps), ...inboundMessageOperations(deps)]
}
