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

test('a destination has one line, however many addresses mail is sent from, and each address has lines of its own', () => {
  const registry = createRegistry()
  const at = { destination: 'a.example', state: 'proven' as const, limit: 3 }
  gaugeEngines(registry, {
    deliveries: () => 0,
    webhookPosts: () => 0,
    inboundPosts: () => 0,
    httpRequests: () => 0,
    eventStreams: { underWay: () => 0, delivered: () => 0 },
    smtpConnections: () => [],
    networkRefusals: () => ({}),
    destinations: () => [
      { ...at, underWay: 1 },
      { ...at, underWay: 2 },
    ],
    addresses: () => [{ address: '192.0.2.1', attempts: 4, delivered: 3, rests: [{}] }],
  })
  const text = registry.text()
  expect(text.match(/^postrider_site_under_way\{.*$/gm)).toEqual(['postrider_site_under_way{site="a.example"} 3'])
  expect(text).toContain('postrider_site_limit{site="a.example"} 6\n')
  expect(text).toContain('postrider_address_attempts_total{address="192.0.2.1"} 4\n')
  expect(text).toContain('postrider_address_delivered_total{address="192.0.2.1"} 3\n')
  expect(text).toContain('postrider_address_resting{address="192.0.2.1"} 1\n')
})
