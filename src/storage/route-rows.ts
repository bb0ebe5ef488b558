import type { GivenAction, InboundRoute, RouteAction, RouteAuthentication, RouteMatch } from '../model/inbound-route.ts'
import type { Encryption } from './encryption.ts'
import { changedHeaders, type HeaderColumns, NO_HEADERS, toHeaderNames } from './endpoint-headers.ts'

/** An inbound route as both databases store it. */
export interface RouteRow {
  id: string
  organizationId: string
  name: string
  matchType: RouteMatch['type']
  matchValue: string | null
  action: RouteAction['type']
  config: string
  headerNames: string | null
  authentication: RouteAuthentication
  enabled: boolean
  priority: number
  createdAt: number
}

export function toRoute({ matchType, matchValue, action, config, headerNames, ...rest }: RouteRow): InboundRoute {
  const given = JSON.parse(config)
  return {
    ...rest,
    match:
      matchType === 'catch_all' ? { type: matchType, value: matchValue } : { type: matchType, value: matchValue ?? '' },
    action:
      action === 'webhook'
        ? { type: action, config: { ...given, headerNames: toHeaderNames(headerNames) } }
        : { type: action, config: given },
  }
}

/** Encryption place of its secret and its headers. */
export const placeOfRoute = (id: string) => `inbound_routes ${id}`

/** Column `config`: an action without its headers and their names, which have their own columns. */
export function packConfig({ type, config }: GivenAction | RouteAction): string {
  return JSON.stringify(
    type === 'webhook' ? { url: config.url, includeAttachments: config.includeAttachments } : config,
  )
}

/** Columns of the headers once the route has the `given` action; null: they stay as they are. `present` is its action
 *  before, null for a new route. */
export function headersOfAction(
  given: GivenAction,
  present: RouteAction | null,
  { id, encryption }: { id: string; encryption: Encryption },
): HeaderColumns | null {
  if (given.type !== 'webhook') return NO_HEADERS
  const { url, headers } = given.config
  const before = present?.type === 'webhook' ? present.config.url : null
  return changedHeaders(headers, before, { url, place: placeOfRoute(id), encryption })
}
