import { expect, test } from 'bun:test'
import { readConfig } from './load.ts'
import { keysByPath } from './paths.ts'
import { sharedSettings } from './shared-settings.ts'

const sharedOf = (text: string) => {
  const { config, faults } = readConfig({ text, file: 'config.toml', env: {} })
  if (config === undefined) throw new Error(JSON.stringify(faults))
  return sharedSettings(config)
}

test('has nothing of a config that only names the machine', () => {
  const own = 'data_dir = "/srv/p"\n[http]\nlisten = "10.0.0.1:8025"\n[cluster]\nname = "a"\n[log]\nlevel = "debug"'
  expect(sharedOf(`hostname = "mx1.example.com"\n${own}`).size).toBe(0)
})

test('has no files of the machine, and nothing that only commands use', () => {
  const files = [...keysByPath()].flatMap(([path, { kind }]) => (kind.isPath ? [path] : []))
  expect(files).toContain('dns.credentials_file')
  const lines = files.map((path) => `${path} = "/srv/${path}"\n`).join('')
  const more = 'tls.mode = "files"\ndns.provider = "cloudflare"\nbackup.to = "/srv/backups"\n'
  const found = sharedOf(`hostname = "mx1.example.com"\n${lines}${more}`)
  expect([...found.keys()]).toEqual([])
})

test('has the settings that all nodes must have, also those in named sections', () => {
  const found = sharedOf(`hostname = "mx1.example.com"
[http]
public_url = "https://mail.example.com"
[oidc]
issuer = "https://login.example.com"
client_id = "postrider"
client_secret = "secret"
[plans.gold]
domains = 7
[delivery.sites."google.com"]
max_connections = 3
[sending.streams.news]
unsubscribe = true
`)
  expect([...found.keys()].toSorted()).toEqual([
    'delivery.sites.google.com',
    'http.public_url',
    'oidc.client_id',
    'oidc.client_secret',
    'oidc.issuer',
    'plans.gold',
    'sending.streams.news',
  ])
  expect(JSON.parse(found.get('plans.gold')!)).toMatchObject({ domains: 7 })
})

test('is the same for keys in another order, and for a default that is written out', () => {
  const plan = (text: string) => sharedOf(`hostname = "a.example.com"\n[plans.gold]\n${text}`)
  expect(plan('domains = 7\nwebhooks = 3')).toEqual(plan('webhooks = 3\ndomains = 7'))
  expect(sharedOf('hostname = "a.example.com"\n[quality]\nwindow_hours = 24').size).toBe(0)
})
