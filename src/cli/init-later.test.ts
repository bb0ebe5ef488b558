import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, readConfig } from '../config/load.ts'
import { type Edit, editsOf, laterOptions, laterText } from './init-later.ts'
import { initialConfig } from './init-texts.ts'

const RELAY = 'smtp://me:secret@relay.example.net:587'
const WANTED = {
  hostname: 'mx.example.net',
  dataDir: '/srv/postrider',
  contact: 'post@example.net',
  https: true as const,
  smarthost: RELAY,
}

const folder = mkdtempSync(join(tmpdir(), 'postrider-later-test-'))
const file = join(folder, 'config.toml')
writeFileSync(join(folder, 'smarthost'), `${RELAY}\n`, { mode: 0o600 })
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

function configOf(text: string): Config {
  const { config, faults } = readConfig({ text, file, env: {} })
  if (!config) throw new Error(JSON.stringify(faults))
  return config
}

/** Makes the edits as a person would, from the last line to the first. */
function edited(text: string, edits: readonly Edit[]): string {
  const rows = text.split('\n')
  for (const { place, line, lines } of edits.toSorted((a, b) => b.line - a.line)) {
    if (place === 'replace') rows.splice(line - 1, 1, ...lines)
    if (place === 'below') rows.splice(line, 0, ...lines)
    if (place === 'top') rows.unshift(...lines)
    if (place === 'end') rows.push(...lines)
  }
  return rows.join('\n')
}

test.each([
  ['that init wrote', initialConfig({ hostname: 'mail.example.com' })],
  [
    'with every key',
    `data_dir = "/x"\n${initialConfig({ hostname: 'a.example', contact: 'a@b.example', smarthost: { url: RELAY } })}`,
  ],
  ['without sections', 'hostname = "mail.example.com"'],
  ['with dotted keys', 'hostname = "mail.example.com"\nhttp.listen = "127.0.0.1:1"\nreports.contact = "a@b.example"\n'],
  [
    'with other sections',
    'hostname = "a.example"\n[tls]\nmode = "files"\n\n[log]\nlevel = "info"\n[http]\nlisten = "127.0.0.1:1"',
  ],
])('the edits set all options in a config %s', (_, text) => {
  const options = { ...WANTED, config: file }
  const smarthost = 'smtp://you:other@relay.example.org:587'
  const later = laterOptions({ ...options, smarthost }, configOf(text))
  expect(later.map(({ option }) => option)).toEqual(['hostname', 'data-dir', 'https', 'contact', 'smarthost'])
  expect(laterOptions(options, configOf(edited(text, editsOf(later, text))))).toEqual([])
})

test('the CA of a database is set in the config that names the database', () => {
  const options = { config: file, databaseCa: '/srv/ca.pem' }
  const text = 'hostname = "a.example"\n[database]\nurl = "postgres://me:secret@db.example.com/postrider"\n'
  const later = laterOptions(options, configOf(text))
  expect(later).toEqual([{ option: 'database-ca', keys: { 'database.ca_file': '/srv/ca.pem' } }])
  const changed = edited(text, editsOf(later, text))
  expect(laterOptions(options, configOf(changed))).toEqual([])
  expect(() => laterOptions(options, configOf('hostname = "a.example"'))).toThrow('database-ca: needs --database')
})

test('the text names each line, and without a file each environment variable', () => {
  writeFileSync(file, 'hostname = "mail.example.com"\n[delivery]\nport = 25\n')
  const later = laterOptions({ ...WANTED, config: file }, configOf('hostname = "mail.example.com"'))
  const wanted = later.filter(({ option }) => option !== 'https')
  expect(
    laterText(wanted, file),
  ).toBe(`Not applied: --hostname, --data-dir, --contact, --smarthost. ${file} already exists. Change it and restart the server. Line numbers are those of the present file.

At the top:
  data_dir = "/srv/postrider"
Replace line 1:
  hostname = "mx.example.net"
Below line 2:
  smarthost_file = "smarthost"
At the end:
  [reports]
  contact = "post@example.net"
Write the URL of the relay to ${join(folder, 'smarthost')}, with mode 600.
`)
  expect(
    laterText(wanted, ''),
  ).toBe(`Not applied: --hostname, --data-dir, --contact, --smarthost. Set these environment variables and restart the server:

  POSTRIDER_HOSTNAME=mx.example.net
  POSTRIDER_DATA_DIR=/srv/postrider
  POSTRIDER_REPORTS_CONTACT=post@example.net
  POSTRIDER_DELIVERY_SMARTHOST_FILE=/etc/postrider/smarthost
Write the URL of the relay to /etc/postrider/smarthost, with mode 600.
`)
  expect(laterText([], file)).toBe('')
})
