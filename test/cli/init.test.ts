import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIMIT_MS, postrider, workplace } from './command.ts'

describe('init', () => {
  let place: ReturnType<typeof workplace>
  beforeEach(() => {
    place = workplace()
  })
  afterEach(() => place.remove())

  const init = (...more: string[]) =>
    postrider('init', '--config', place.file, '--domain', 'example.com', '--data-dir', place.dataDir, ...more)

  test(
    'makes config, store, organization, domain and an admin key, and a second run changes nothing',
    async () => {
      const first = await init('--json', '--org', 'Example')
      expect(first.stderr).toBe('')
      expect(first.code).toBe(0)
      const made = JSON.parse(first.stdout)
      expect(Object.keys(made)).toEqual(['organization_id', 'domain_id', 'api_key', 'dashboard', 'dns_records'])
      expect(made.api_key).toMatch(/^svc_live_[0-9A-Za-z]{40}$/)
      const dkim = made.dns_records.filter(({ purpose }: { purpose: string }) => purpose === 'dkim')
      expect(dkim).toHaveLength(2)
      expect(statSync(place.file).mode & 0o777).toBe(0o640)
      const config = readFileSync(place.file, 'utf8')
      expect(config).toContain('hostname = "mail.example.com"')

      const second = await init('--json')
      expect(second.code).toBe(0)
      expect(JSON.parse(second.stdout)).toEqual({
        changed: false,
        organization_id: made.organization_id,
        domain_id: made.domain_id,
        dns_records: made.dns_records,
      })
      expect(readFileSync(place.file, 'utf8')).toBe(config)
      const keys = await postrider('key', 'list', '--config', place.file, '--json')
      expect(JSON.parse(keys.stdout).data).toHaveLength(1)
      const organizations = await postrider('org', 'list', '--config', place.file, '--json')
      expect(JSON.parse(organizations.stdout).data).toMatchObject([{ name: 'Example', plan: 'enterprise' }])
    },
    LIMIT_MS,
  )

  test(
    'says in words what to do next, and on a second run that nothing was changed',
    async () => {
      const first = await init()
      expect(first.stdout).toContain('svc_live_')
      expect(first.stdout).toContain('bounces.example.com')
      expect(first.stdout).toContain('systemctl enable --now postrider')
      expect((await init()).stdout).toContain('nothing was changed')
    },
    LIMIT_MS,
  )

  test(
    'uses a config that is there as it is',
    async () => {
      place.writeConfig()
      const before = readFileSync(place.file, 'utf8')
      const made = await postrider('init', '--config', place.file, '--domain', 'example.com', '--json')
      expect(made.code).toBe(0)
      expect(readFileSync(place.file, 'utf8')).toBe(before)
      expect(existsSync(join(place.dataDir, 'postrider.db'))).toBe(true)
    },
    LIMIT_MS,
  )

  test(
    'leaves no config behind when the store cannot be made',
    async () => {
      writeFileSync(place.dataDir, 'not a folder')
      const refused = await init('--json')
      expect(refused.code).toBe(1)
      expect(refused.stdout).toBe('')
      expect(refused.stderr).toContain(place.dataDir)
      expect(refused.stderr.trim().split('\n')).toHaveLength(1)
      expect(existsSync(place.file)).toBe(false)
    },
    LIMIT_MS,
  )

  test(
    'refuses what is no domain, and a host name that is none, before anything is written',
    async () => {
      const domain = await postrider('init', '--config', place.file, '--domain', 'co.uk', '--data-dir', place.dataDir)
      expect(domain).toMatchObject({ code: 2, stdout: '' })
      expect(domain.stderr).toContain('domain: ')
      const hostname = await init('--hostname', 'not a host')
      expect(hostname.code).toBe(2)
      expect(hostname.stderr).toContain('hostname: ')
      expect(existsSync(place.file)).toBe(false)
      expect(existsSync(place.dataDir)).toBe(false)
    },
    LIMIT_MS,
  )
})
