import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { draftOf } from '../../src/cli/init-plan.ts'
import { everyAddress } from '../../src/cli/init-texts.ts'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import { PROVIDERS } from '../health/setup.ts'
import { freePort } from '../support/free-port.ts'
import { onTerminal, postrider, startWith, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

describe('init', () => {
  let place: ReturnType<typeof testFolder>
  beforeEach(() => {
    place = testFolder()
  })
  afterEach(() => place.remove())

  const inOneProcess = postriderInOneProcess()
  const init = (...more: string[]) =>
    inOneProcess(
      'init',
      '--config',
      place.file,
      '--domain',
      'example.com',
      '--data-dir',
      place.dataDir,
      '--skip-checks',
      ...more,
    )

  test('creates config, store, organization, domain and an admin key, and a second run changes nothing', async () => {
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
  })

  test('prints the next steps, and on a second run that nothing was changed', async () => {
    const first = await init()
    expect(first.stdout).toContain('svc_live_')
    expect(first.stdout).toContain('bounces.example.com')
    expect(first.stdout).toContain('systemctl enable --now postrider')
    expect((await init()).stdout).toContain('Nothing was changed')
  })

  test('says which options an existing config lacks and what to set, and leaves the file as it is', async () => {
    expect((await init()).code).toBe(0)
    const config = readFileSync(place.file, 'utf8')
    const { stdout, code } = await init('--https', '--smarthost', 'smtp://me:secret@relay.example.net:587')
    expect(code).toBe(0)
    expect(stdout).toContain('Not applied: --https, --smarthost.')
    for (const line of [
      `listen_tls = "${everyAddress()}:443"`,
      'acme_agree_terms = true',
      'smarthost_file = "smarthost"',
    ])
      expect(stdout).toContain(line)
    expect(stdout).toMatch(/^Below line \d+:\n {2}smarthost_file/m)
    expect(stdout).not.toContain('secret')
    const planned = await init('--dry-run', '--json', '--domain', 'example.net', '--contact', 'post@example.net')
    expect(JSON.parse(planned.stdout)).toMatchObject({ changed: false, not_applied: ['contact'] })
    const same = ['--hostname', 'mail.example.com', '--data-dir', place.dataDir]
    expect(JSON.parse((await init('--json', ...same)).stdout)).not.toHaveProperty('not_applied')
    // Another domain of the same installation: created, with the same words about the option.
    const other = await init('--json', '--domain', 'example.net', '--contact', 'post@example.net')
    expect(JSON.parse(other.stdout)).toMatchObject({ api_key: expect.any(String), not_applied: ['contact'] })
    expect(readFileSync(place.file, 'utf8')).toBe(config)
  })

  test('uses an existing config unchanged', async () => {
    place.writeConfig()
    const before = readFileSync(place.file, 'utf8')
    const made = await postrider('init', '--config', place.file, '--domain', 'example.com', '--skip-checks', '--json')
    expect(made.code).toBe(0)
    expect(readFileSync(place.file, 'utf8')).toBe(before)
    expect(existsSync(join(place.dataDir, 'postrider.db'))).toBe(true)
  })

  test('leaves no config behind when the store cannot be created', async () => {
    writeFileSync(place.dataDir, 'not a folder')
    const refused = await init('--json')
    expect(refused.code).toBe(1)
    expect(refused.stdout).toBe('')
    expect(refused.stderr).toContain(place.dataDir)
    expect(refused.stderr.trim().split('\n')).toHaveLength(1)
    expect(existsSync(place.file)).toBe(false)
  })

  test('refuses an invalid domain or host name before anything is written', async () => {
    const domain = await postrider('init', '--config', place.file, '--domain', 'co.uk', '--data-dir', place.dataDir)
    expect(domain).toMatchObject({ code: 2, stdout: '' })
    expect(domain.stderr).toContain('domain: ')
    const hostname = await init('--hostname', 'not a host')
    expect(hostname.code).toBe(2)
    expect(hostname.stderr).toContain('hostname: ')
    expect(existsSync(place.file)).toBe(false)
    expect(existsSync(place.dataDir)).toBe(false)
  })

  describe('with checks of the machine first', () => {
    let zone: Zone
    let env: Record<string, string>
    beforeEach(async () => {
      zone = await startZone([
        ...PROVIDERS,
        { name: '_dmarc.example.com', type: 'TXT', data: 'v=DMARC1; p=reject' },
        { name: 'example.com', type: 'NS', data: 'ada.ns.cloudflare.com' },
      ])
      const port = await freePort()
      env = {
        POSTRIDER_DNS_SERVERS: zone.address,
        POSTRIDER_DELIVERY_PORT: String(port),
        POSTRIDER_DELIVERY_ALLOW_PRIVATE_DESTINATIONS: 'true',
      }
    })
    afterEach(() => zone.stop())

    const args = (...more: string[]) => ['init', '--config', place.file, '--data-dir', place.dataDir, ...more]
    const run = async (...more: string[]) => (await startWith(env, ...args('--domain', 'example.com', ...more))).ended

    test('prints findings and advice, continues anyway, and leaves zone lines', async () => {
      const { code, stdout, stderr } = await run()
      expect(stderr).toBe('')
      expect(code).toBe(0)
      expect(stdout).toMatch(/^Checking this machine\n/)
      expect(stdout).toMatch(/✗ outbound port 25 +outbound port 25 is blocked/)
      expect(stdout).toContain('postrider init --smarthost')
      expect(stdout).toContain('Cloudflare: disable the proxy')
      expect(stdout.indexOf('outbound port 25')).toBeLessThan(stdout.indexOf('✓ wrote'))
      const needed = stdout.split('\n').filter((line) => /^\d+ +yes +/.test(line))
      expect(needed.length).toBeLessThanOrEqual(6)
      const lines = readFileSync(join(place.folder, 'dns/example.com.zone'), 'utf8').split('\n')
      expect(lines.filter((line) => /^bounces\.example\.com\. 3600 IN (MX|TXT) /.test(line))).toHaveLength(2)
      // DNS already has this record.
      expect(lines.filter((line) => line.startsWith('_dmarc'))).toEqual([])
    })

    test('adds the findings to JSON; a dry run writes nothing', async () => {
      const dry = await run('--json', '--dry-run')
      const planned = JSON.parse(dry.stdout)
      expect(planned).toMatchObject({ changed: false, writes: [place.file] })
      expect(readdirSync(place.folder)).toEqual([])
      expect((await run('--dry-run')).stdout).toContain('hostname = "mail.example.com"')
      expect(readdirSync(place.folder)).toEqual([])

      const made = JSON.parse((await run('--json')).stdout)
      expect(made.checks.map(({ name }: { name: string }) => name)).toEqual(
        planned.checks.map(({ name }: { name: string }) => name),
      )
      expect(made.checks[0]).toMatchObject({ name: 'name_servers', status: expect.any(String) })
      expect(made.api_key).toMatch(/^svc_live_/)
      expect(JSON.parse((await run('--json')).stdout)).not.toHaveProperty('checks')
    })

    test('asks on a terminal for what is missing, and for a smarthost where port 25 is blocked', async () => {
      const asked = await onTerminal(env, args(), {
        'Sending domain: ': 'example.com',
        'Public hostname of this machine [mail.example.com]: ': '',
        '[y/N]: ': 'y',
        '(press Enter to skip): ': 'smtp://shop:s3cret@127.0.0.1:587',
      })
      expect(asked.code).toBe(0)
      expect(asked.unanswered).toEqual([])
      expect(asked.text).toContain('svc_live_')
      const config = readFileSync(place.file, 'utf8')
      expect(config).toContain('hostname = "mail.example.com"')
      expect(config).toContain('smarthost_file = "smarthost"')
      expect(config).toMatch(/^listen_tls = ".*:443"$/m)
      expect(readFileSync(join(place.folder, 'smarthost'), 'utf8')).toBe('smtp://shop:s3cret@127.0.0.1:587\n')
    })

    test('asks nothing on a terminal with --no-input', async () => {
      const { code, text } = await onTerminal(env, args('--no-input', '--domain', 'example.com'), {})
      expect(code).toBe(0)
      expect(text).toContain('svc_live_')
      expect(text).not.toContain('Public hostname of this machine')
    })
  })

  test('uses the ports of HTTPS with --https, and names the authority', async () => {
    const made = await init('--https', '--contact', 'ops@example.com', '--dry-run', '--skip-checks')
    expect(made.code).toBe(0)
    const config = draftOf({ config: place.file, https: true, contact: 'ops@example.com' }, 'mail.example.com').config
    expect(config.http.publicUrl).toBe('https://mail.example.com')
    expect(config.http.listenRedirect).toEqual({ host: everyAddress().replace(/[[\]]/g, ''), port: 80 })
    if (everyAddress() === '[::]') expect(config.smtp.inbound.listen).toEqual({ host: '::', port: 25 })
    expect(config.tls).toMatchObject({ mode: 'acme', acmeAgreeTerms: true, acmeContact: 'ops@example.com' })
  })

  // threat: smarthost-password-exposed
  test('stores a smarthost in a separate file that no other user can read', async () => {
    const made = await init('--smarthost', 'smtp://shop:s3cr%40t@smtp.example.net', '--contact', 'ops@example.com')
    expect(made.code).toBe(0)
    expect(made.stdout).not.toContain('s3cr')
    expect(statSync(join(place.folder, 'smarthost')).mode & 0o777).toBe(0o600)
    expect(readFileSync(place.file, 'utf8')).not.toContain('s3cr')
    expect(readFileSync(place.file, 'utf8')).toContain('contact = "ops@example.com"')
    expect((await postrider('config', 'check', '--config', place.file)).code).toBe(0)
  })

  // threat: smarthost-password-exposed
  test('an invalid smarthost, and a missing domain without a terminal, are usage errors that write nothing', async () => {
    const wrong = await init('--smarthost', 'ftp://shop:s3cret@smtp.example.net')
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('delivery.smarthost')
    expect(wrong.stderr).not.toContain('s3cret')
    const none = await postrider('init', '--config', place.file)
    expect(none).toMatchObject({ code: 2, stdout: '', stderr: 'domain: missing. Set it with --domain example.com\n' })
    expect(readdirSync(place.folder)).toEqual([])
  })
})
