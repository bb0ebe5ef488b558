import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkConfigFiles, formatFaults, readConfig, relayPasswordsOf } from './load.ts'

const HOST = 'hostname = "mail.example.com"\n'
const RELAY = '[[relays]]\nname = "one"\nhost = "smtp.one.example"\n'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-relays-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (text: string) => readConfig({ text: HOST + text, file: join(folder, 'config.toml'), env: {} })
const faultsOf = (text: string) => formatFaults(read(text).faults ?? [])
const configOf = (text: string) => {
  const { config, faults } = read(text)
  if (config === undefined) throw new Error(formatFaults(faults))
  return config
}

test('a relay has defaults, its password file is beside the config, and its port follows from tls', () => {
  const { relays, relayRules } = configOf(`${RELAY}username = "shop"
password_file = "secret"
[[relays]]
name = "two"
host = "10.0.0.5"
tls = "implicit"
[[relay_rules]]
fail_over = "one"
`)
  expect(relays).toMatchObject([
    {
      name: 'one',
      port: 587,
      tls: 'starttls',
      username: 'shop',
      passwordFile: join(folder, 'secret'),
      certificates: [],
    },
    { name: 'two', port: 465, tls: 'implicit', username: null, passwordFile: null },
  ])
  expect(relayRules).toMatchObject([{ use: 'direct', failOver: 'one', afterMinutes: 30, organization: null }])
})

// threat: smarthost-password-exposed
test('the password is neither in the config nor in its settings, and others must not read its file', () => {
  const path = join(folder, 'password')
  writeFileSync(path, 's3cret\n')
  chmodSync(path, 0o600)
  const result = read(`${RELAY}username = "shop"\npassword_file = "password"\n`)
  if (result.config === undefined) throw new Error('faults')
  expect(JSON.stringify([result.config, result.settings()])).not.toContain('s3cret')
  expect(relayPasswordsOf(result.config).get('one')).toBe('s3cret')
  expect(checkConfigFiles(result.config, 'config.toml')).toEqual([])
  chmodSync(path, 0o644)
  expect(formatFaults(checkConfigFiles(result.config, 'config.toml'))).toContain('chmod 600')
  rmSync(path)
  expect(formatFaults(checkConfigFiles(result.config, 'config.toml'))).toContain('no such file or folder')
})

test.each([
  ['[[relays]]\nname = "direct"\nhost = "a.example"\n', 'relays'],
  [`${RELAY}${RELAY}`, 'each only once'],
  [`${RELAY}password = "x"\n`, 'unknown key'],
  [`${RELAY}username = "shop"\n`, 'both username and password_file'],
  [`${RELAY}tls = "none"\nusername = "shop"\npassword_file = "p"\n`, 'expected TLS'],
  ['[[relay_rules]]\nuse = "one"\n', 'one of [[relays]]'],
  [`${RELAY}[[relay_rules]]\nuse = "one"\nfail_over = "one"\n`, 'use = "direct"'],
  [`${RELAY}[[relay_rules]]\nstream = "news"\nuse = "one"\n`, '[sending.streams]'],
  [`${RELAY}[[relay_rules]]\nuse = "one"\n[delivery]\nsmarthost = "smtp://a.example"\n`, 'delivery.smarthost'],
])('a mistake in %j is a fault', (text, fault) => {
  expect(faultsOf(text)).toContain(fault)
})
