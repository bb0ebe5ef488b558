import { expect, test } from 'bun:test'
import { readConfig } from '../config/load.ts'
import { sharesOf } from './limits.ts'

const read = (text: string) => {
  const result = readConfig({ text: `hostname = "mail.example.com"\n${text}`, file: 'config.toml', env: {} })
  if (result.config === undefined) throw new Error('not a config')
  return result.config
}
const ALL_DOORS = '[smtp.submission]\nlisten = "0.0.0.0:587"\nlisten_tls = "0.0.0.0:465"\n'

test('with many files the config decides', () => {
  const config = read(ALL_DOORS)
  const shares = sharesOf(config, 65_536)
  expect(shares.smtpConnections).toBe(config.smtp.maxConnections)
  expect(shares.deliveries).toBe(config.delivery.maxInFlight)
  expect(shares.posts).toBe(config.webhooks.maxInFlight)
  expect(sharesOf(config, Number.POSITIVE_INFINITY)).toEqual(shares)
})

test.each(['', ALL_DOORS])('with few files all of them together leave a quarter to HTTP', (doors) => {
  for (const limit of [256, 1024, 4096]) {
    const { smtpConnections, deliveries, idleSessions, posts } = sharesOf(read(doors), limit)
    const listeners = doors === '' ? 1 : 3
    expect(64 + smtpConnections * listeners + deliveries + idleSessions * 2 + posts * 2).toBeLessThanOrEqual(
      limit * 0.75,
    )
    expect(Math.min(smtpConnections, deliveries, idleSessions, posts)).toBeGreaterThanOrEqual(8)
  }
})
