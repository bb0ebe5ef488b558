import type { Registry } from './registry.ts'

/** Current values of the engines. */
export interface Engines {
  /** Deliveries in progress. */
  deliveries: () => number
  webhookPosts: () => number
  inboundPosts: () => number
  httpRequests: () => number
  eventStreams: { underWay(): number; delivered(): number }
  smtpConnections: () => readonly { listener: string; connections: number; isStressed: boolean }[]
  /** Refusals by a limit of a client network, by kind of limit. */
  networkRefusals: () => Record<string, number>
  /** State of limits and reputation at destinations. */
  destinations: () => readonly DestinationGauge[]
  /** Answers of the delegated zone, by type, response code and transport, and queries above the rate limit; absent: off. */
  dnsQueries?: () => { queries: Readonly<Record<string, number>>; slipped: number; dropped: number }
  /** Use of each configured sending address; absent: none. */
  addresses?: () => readonly { address: string; attempts: number; delivered: number; rests: readonly unknown[] }[]
  /** Where sending addresses in warm-up are, by destination group; absent: none. */
  warmups?: () => readonly { address: string; group: string; state: string; allowance: number | null; sent: number }[]
}

export interface DestinationGauge {
  destination: string
  state: (typeof STATES)[number]
  limit: number
  underWay: number
}

/** Each destination adds a time series per gauge, so only the busiest are exported. */
const MAX_DESTINATIONS = 50
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
    engines.smtpConnections().map(({ listener, connections }) => ({ values: [listener], value: connections })),
  )
  registry.gauges('postrider_smtp_stress', 'Whether the SMTP listener is short of connections: 1 or 0.', ['door'], () =>
    engines.smtpConnections().map(({ listener, isStressed }) => ({ values: [listener], value: isStressed ? 1 : 0 })),
  )
  registry.totals(
    'postrider_smtp_network_limit_total',
    'Connections, messages and recipients rejected by the limits per client network.',
    ['kind'],
    () => Object.entries(engines.networkRefusals()).map(([kind, value]) => ({ values: [kind], value })),
  )
  // There may be tens of thousands, so the list is read once for the three gauges, which are evaluated in this order.
  let busiest: readonly DestinationGauge[] = []
  registry.gauges('postrider_sites', 'Known destinations, by state.', ['state'], () => {
    const destinations = engines.destinations()
    busiest = merged(destinations)
      .sort((a, b) => b.underWay - a.underWay)
      .slice(0, MAX_DESTINATIONS)
    return STATES.map((state) => ({
      values: [state],
      value: destinations.filter((each) => each.state === state).length,
    }))
  })
  registry.gauges('postrider_site_limit', 'Connection limit of the 50 busiest destinations.', ['site'], () =>
    busiest.map(({ destination, limit }) => ({ values: [destination], value: limit })),
  )
  registry.gauges('postrider_site_under_way', 'Deliveries in progress to the 50 busiest destinations.', ['site'], () =>
    busiest.map(({ destination, underWay }) => ({ values: [destination], value: underWay })),
  )
  gaugeAddresses(registry, engines.addresses ?? (() => []))
  gaugeWarmups(registry, engines.warmups ?? (() => []))
  gaugeDns(registry, engines.dnsQueries ?? (() => NO_QUERIES))
}

const NO_QUERIES = { queries: {}, slipped: 0, dropped: 0 }

function gaugeDns(registry: Registry, read: NonNullable<Engines['dnsQueries']>): void {
  registry.totals(
    'postrider_dns_queries_total',
    'Answered DNS queries, by record type, response code and transport.',
    ['type', 'code', 'transport'],
    () => Object.entries(read().queries).map(([key, value]) => ({ values: key.split(' '), value })),
  )
  registry.totals(
    'postrider_dns_rate_limited_total',
    'DNS queries over UDP above dns.responses_per_second: sent to TCP (slip) or dropped (drop).',
    ['action'],
    () => [
      { values: ['slip'], value: read().slipped },
      { values: ['drop'], value: read().dropped },
    ],
  )
}

/** One row for each destination, with the sums over the addresses that mail is sent from. */
function merged(destinations: readonly DestinationGauge[]): DestinationGauge[] {
  const sums = new Map<string, DestinationGauge>()
  for (const each of destinations) {
    const known = sums.get(each.destination)
    if (known === undefined) sums.set(each.destination, { ...each })
    else {
      known.limit += each.limit
      known.underWay += each.underWay
    }
  }
  return [...sums.values()]
}

function gaugeAddresses(registry: Registry, addresses: NonNullable<Engines['addresses']>): void {
  registry.totals('postrider_address_attempts_total', 'Attempts from each sending address.', ['address'], () =>
    addresses().map(({ address, attempts }) => ({ values: [address], value: attempts })),
  )
  registry.totals('postrider_address_delivered_total', 'Deliveries from each sending address.', ['address'], () =>
    addresses().map(({ address, delivered }) => ({ values: [address], value: delivered })),
  )
  registry.gauges('postrider_address_resting', 'Destinations that block the sending address.', ['address'], () =>
    addresses().map(({ address, rests }) => ({ values: [address], value: rests.length })),
  )
}

/** Without lines for groups whose plan has ended. */
function gaugeWarmups(registry: Registry, warmups: NonNullable<Engines['warmups']>): void {
  const gauge = (name: string, help: string, read: (each: ReturnType<typeof warmups>[number]) => number) =>
    registry.gauges(name, help, ['address', 'group'], () =>
      warmups()
        .filter(({ allowance }) => allowance !== null)
        .map((each) => ({ values: [each.address, each.group], value: read(each) })),
    )
  gauge(
    'postrider_warmup_allowance',
    'Messages that today’s warm-up allows from the address, by destination group.',
    ({ allowance }) => allowance ?? 0,
  )
  gauge('postrider_warmup_sent', 'Messages of today from the address in warm-up.', ({ sent }) => sent)
  gauge('postrider_warmup_held', 'Whether the warm-up is held because of bad results: 1 or 0.', ({ state }) =>
    state === 'held' ? 1 : 0,
  )
}
