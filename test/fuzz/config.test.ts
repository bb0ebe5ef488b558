import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readConfig } from '../../src/config/load.ts'
import { runs } from './runs.ts'

/** Configuration from a file and from the environment: a config, or messages for all faults. */

const binary = fc.string({ unit: 'binary', maxLength: 400 })

describe('configuration', () => {
  test('config text is a config or a list of faults, each with a message', () => {
    const value = fc.oneof(
      fc.integer().map(String),
      fc.double({ noNaN: true }).map(String),
      fc.string({ maxLength: 20 }).map((text) => JSON.stringify(text)),
      fc.constantFrom('true', '[]', '[1, "a"]', '{}', '{ a = 1 }', '1979-05-27', 'nan', '[[[]]]'),
    )
    const name = fc.constantFrom(
      'hostname',
      'data_dir',
      'http',
      'listen',
      'http.listen',
      'delivery.port',
      'delivery.smarthost',
      'plans.free.domains',
      'plans.x',
      'dns.servers',
      '[http]',
      '[plans.own]',
      '[[http]]',
      '__proto__',
      'constructor',
      '"a b"',
      '',
      '#',
    )
    const pair = fc.tuple(name, value).map(([key, text]) => (key.startsWith('[') ? key : `${key} = ${text}`))
    const file = fc.oneof(
      binary,
      fc.array(fc.oneof(pair, binary), { maxLength: 8 }).map((rows) => rows.join('\n')),
    )
    const run = fc.property(file, (text) => {
      const { config, faults } = readConfig({ text, file: 'x.toml', env: {} })
      if (config) return
      expect(faults!.length).toBeGreaterThan(0)
      for (const { message } of faults!) expect(message).toMatch(/\S/)
    })
    fc.assert(run, runs({ target: 'config', property: 'file' }, 500, 23))
  })

  test('environment variables are a config or such a list', () => {
    const name = fc.constantFrom(
      'POSTRIDER_HOSTNAME',
      'POSTRIDER_HTTP_LISTEN',
      'POSTRIDER_DELIVERY_PORT',
      'POSTRIDER_DNS_SERVERS',
      'POSTRIDER_X',
      'POSTRIDER_',
      'POSTRIDER_PLANS_FREE_DOMAINS',
      'POSTRIDER_DELIVERY_SMARTHOST_FILE',
    )
    const run = fc.property(fc.dictionary(name, fc.string({ unit: 'binary', maxLength: 30 })), (env) => {
      const { config, faults } = readConfig({ text: 'hostname = "mail.example.com"', file: 'x.toml', env })
      expect((config === undefined || config === null) === (faults !== undefined && faults !== null)).toBe(true)
    })
    fc.assert(run, runs({ target: 'config', property: 'environment' }, 500, 24))
  })
})
