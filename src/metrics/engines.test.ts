import { expect, test } from 'bun:test'
import { type DestinationGauge, gaugeEngines } from './engines.ts'
import { createRegistry } from './registry.ts'

test('with many destinations, the fifty busiest have lines, all are counted by state, and all are read once', () => {
  const registry = createRegistry()
  let asked = 0
  const destinations = Array.from({ length: 1_000 }, (_, at): DestinationGauge => {
    return { destination: `s${at}.example`, state: at < 10 ? 'paused' : 'proven', limit: 3, underWay: at }
  })
  gaugeEngines(registry, {
    deliveries: () => 7,
    webhookPosts: () => 0,
    inboundPosts: () => 0,
    httpRequests: () => 0,
    eventStreams: { underWay: () => 3, delivered: () => 9 },
    smtpConnections: () => [{ listener: 'inbound', connections: 2, isStressed: true }],
    networkRefusals: () => ({ mails: 4 }),
    destinations: () => {
      asked++
      return destinations
    },
  })
  const text = registry.text()
  expect(asked).toBe(1)
  expect(text).toContain('postrider_sites{state="paused"} 10\n')
  expect(text).toContain('postrider_sites{state="proven"} 990\n')
  expect(text.match(/^postrider_site_under_way\{/gm)).toHaveLength(50)
  expect(text).toContain('postrider_site_under_way{site="s999.example"} 999\n')
  expect(text).toContain('postrider_under_way{kind="event_stream"} 3\n')
  expect(text).toContain('postrider_events_streamed_total 9\n')
  expect(text).toContain('postrider_smtp_connections{door="inbound"} 2\n')
})
