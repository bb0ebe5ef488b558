import type { Registry } from './registry.ts'

/** What the engines say of themselves when they are asked. */
export interface Engines {
  /** Deliveries under way. */
  deliveries: () => number
  webhookPosts: () => number
  inboundPosts: () => number
  httpRequests: () => number
  eventStreams: { underWay(): number; delivered(): number }
  smtpConnections: () => readonly { door: string; connections: number; isStressed: boolean }[]
  /** How many times a limit of a client network refused something, by kind. */
  networkRefusals: () => Record<string, number>
  /** How we stand with receiving sites. */
  sites: () => readonly Site[]
}

export interface Site {
  site: string
  state: (typeof STATES)[number]
  limit: number
  underWay: number
}

/** Each destination adds a time series per gauge, so only the busiest are exported. */
const MAX_SITES = 50
const STATES = ['unknown', 'proven', 'troubled', 'paused'] as const

export function gaugeEngines(registry: Registry, engines: Engines): void {
  registry.gauges('postrider_under_way', 'Work in progress, by kind.', ['kind'], () => [
    { values: ['delivery'], value: engines.deliveries() },
    { values: ['webhook_post'], value: engines.webhookPosts() },
    { values: ['inbound_post'], value: engines.inboundPosts() },
    { values: ['http_request'], value: engines.httpRequests() },
    { values: ['event_stream'], value: engines.eventStreams.underWay() },
  ])
  registry.total('postrider_events_streamed_total', 'Events sent on event streams.', engines.eventStreams.delivered)
  registry.gauges('postrider_smtp_connections', 'Open connections of each SMTP listener.', ['door'], () =>
    engines.smtpConnections().map(({ door, connections }) => ({ values: [door], value: connections })),
  )
  registry.gauges('postrider_smtp_stress', 'Whether the SMTP listener is short of connections: 1 or 0.', ['door'], () =>
    engines.smtpConnections().map(({ door, isStressed }) => ({ values: [door], value: isStressed ? 1 : 0 })),
  )
  registry.totals(
    'postrider_smtp_network_limit_total',
    'Connections, messages and recipients rejected by the limits per client network.',
    ['kind'],
    () => Object.entries(engines.networkRefusals()).map(([kind, value]) => ({ values: [kind], value })),
  )
  // There may be tens of thousands, so the list is read once for the three gauges, which are evaluated in this order.
  let busiest: readonly Site[] = []
  registry.gauges('postrider_sites', 'Known destinations, by state.', ['state'], () => {
    const sites = engines.sites()
    busiest = sites.toSorted((a, b) => b.underWay - a.underWay).slice(0, MAX_SITES)
    return STATES.map((state) => ({ values: [state], value: sites.filter((site) => site.state === state).length }))
  })
  registry.gauges('postrider_site_limit', 'Connection limit of the 50 busiest destinations.', ['site'], () =>
    busiest.map(({ site, limit }) => ({ values: [site], value: limit })),
  )
  registry.gauges('postrider_site_under_way', 'Deliveries in progress to the 50 busiest destinations.', ['site'], () =>
    busiest.map(({ site, underWay }) => ({ values: [site], value: underWay })),
  )
}
