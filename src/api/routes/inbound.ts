import type { Operation } from '../operation.ts'
import { type InboundMessageDeps, inboundMessageOperations } from './inbound-messages.ts'
import { type InboundRouteDeps, inboundRouteOperations } from './inbound-routes.ts'

/** All inbound operations. */
export function inboundOperations(deps: InboundRouteDeps & InboundMessageDeps): Operation[] {
  return [...inboundRouteOperations(deps), ...inboundMessageOperations(deps)]
}
