import { expect, test } from 'bun:test'
import { formatFaults, readConfig } from './load.ts'

const read = (text: string) =>
  readConfig({ text: `hostname = "mail.example.com"\n${text}`, file: '/etc/postrider/config.toml', env: {} })
const MAIL = '[[alerts.channels]]\nname = "mail"\ntype = "mail"\nto = "ops@example.org"\n'
const SERVER = `${MAIL}host = "smtp.inside.example"\n`

test('the authority of a mail server is a file beside the config, and absent by default', () => {
  const authority = (text: string) => read(text).config?.alerts.channels[0]?.server?.caFile
  expect(authority(`${SERVER}ca_file = "inside.pem"\n`)).toBe('/etc/postrider/inside.pem')
  expect(authority(SERVER)).toBeNull()
})

test('it needs a host and TLS', () => {
  for (const text of [`${MAIL}ca_file = "inside.pem"\n`, `${SERVER}tls = "none"\nca_file = "inside.pem"\n`]) {
    expect(formatFaults(read(text).faults ?? [])).toContain('ca_file')
  }
})

test('a canary mail may be on its way for ten intervals', () => {
  const canary = (minutes: number) =>
    read(`[users]\nmail_from = "a@example.com"\n[canary]\nevery_minutes = 5\nmissing_after_minutes = ${minutes}\n`)
  expect(formatFaults(canary(51).faults ?? [])).toContain('at most 10 times canary.every_minutes (5), found 51')
  expect(canary(50).faults ?? []).toEqual([])
})
