import type { Operation } from '../operation.ts'
import { type InboundMessageDeps, inboundMessageOperations } from './inbound-messages.ts'
import { type InboundRouteDeps, inboundRouteOperations } from './inbound-routes.ts'

/** Everything that can be asked about mail that comes in. */
export function inboundOperations(deps: InboundRouteDeps & InboundMessageDeps): Operation[] {
  return [...inboundRouteOperations(deps), ...inboundMessageOperations(deps)]
}
