import { expect, test } from 'bun:test'
import { readConfig } from '../config/load.ts'
import { resourceLimits } from './limits.ts'

const read = (text: string) => {
  const result = readConfig({ text: `hostname = "mail.example.com"\n${text}`, file: 'config.toml', env: {} })
  if (result.config === undefined) throw new Error('not a config')
  return result.config
}
const ALL_LISTENERS = '[smtp.submission]\nlisten = "0.0.0.0:587"\nlisten_tls = "0.0.0.0:465"\n'

test('uses the configured limits when many files may be open', () => {
  const config = read(ALL_LISTENERS)
  const limits = resourceLimits(config, 65_536)
  expect(limits.smtpConnections).toBe(config.smtp.maxConnections)
  expect(limits.deliveries).toBe(config.delivery.maxInFlight)
  expect(limits.posts).toBe(config.webhooks.maxInFlight)
  expect(resourceLimits(config, Number.POSITIVE_INFINITY)).toEqual(limits)
})

test.each(['', ALL_LISTENERS])('leaves a quarter of the open files to HTTP when few are allowed', (smtp) => {
  for (const limit of [256, 1024, 4096]) {
    const { smtpConnections, deliveries, idleSessions, posts } = resourceLimits(read(smtp), limit)
    const listeners = smtp === '' ? 1 : 3
    expect(64 + smtpConnections * listeners + deliveries + idleSessions * 2 + posts * 2).toBeLessThanOrEqual(
      limit * 0.75,
    )
    expect(Math.min(smtpConnections, deliveries, idleSessions, posts)).toBeGreaterThanOrEqual(8)
  }
})
