import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startZone, type Zone } from '../../src/cli/try/zone-server.ts'
import type { DnsRecord } from '../../src/model/domain.ts'
import { type ProviderServer, startBind, startPowerDns } from '../support/dns-providers.ts'
import { until } from '../support/patience.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { onTerminal, PROGRAM, plainEnvironment, startWith, testFolder } from './command.ts'
import { postriderInOneProcess } from './in-one-process.ts'

/** `dns apply` with the real lexicon, BIND and PowerDNS. */

const DOMAIN = 'shop.example.org'
/** What others have in the zone. */
const OTHERS = `
@ IN MX 10 mx.office.example.
@ IN TXT "v=spf1 include:office.example -all"
@ IN TXT "site-verification=abc"
www IN A 192.0.2.80
bounces IN TXT "another purpose"
_dmarc IN TXT "v=DMARC1; p=reject; rua=mailto:reports@office.example; adkim=s"
`

type Records = (DnsRecord & { status: string })[]

function withServer(start: () => Promise<ProviderServer>, provider: string) {
  const postrider = postriderInOneProcess()
  const place = testFolder()
  const credentials = join(place.folder, 'credentials')
  let server: ProviderServer
  beforeAll(async () => {
    server = await start()
    writeFileSync(credentials, `# of a test\n${server.credentials}`, { mode: 0o600 })
    configure(server.address)
    await postrider('org', 'create', 'Acme', '--config', place.file)
    await postrider('domain', 'add', DOMAIN, '--config', place.file)
  })
  afterAll(async () => {
    await server.stop()
    place.remove()
  })
  const configure = (address: string, more = `provider = "${provider}"\ncredentials_file = "${credentials}"\n`) =>
    place.writeConfig('127.0.0.1:0', `[dns]\nservers = ["${address}"]\n${more}`)
  return {
    place,
    credentials,
    configure,
    server: () => server,
    dns: (...args: string[]) => postrider('dns', ...args, '--config', place.file),
    apply: (...args: string[]) => postrider('dns', 'apply', DOMAIN, ...args, '--config', place.file),
    wanted: async (): Promise<Records> =>
      JSON.parse((await postrider('dns', 'show', DOMAIN, '--json', '--config', place.file)).stdout).records,
  }
}

const secretsIn = (credentials: string) =>
  credentials.split('\n').flatMap((line) => (line.includes('AUTH_TOKEN') ? [line.slice(line.indexOf('=') + 1)] : []))

const servers: [name: string, tool: string, start: () => Promise<ProviderServer>][] = [
  ['ddns', 'named', () => startBind(DOMAIN, OTHERS, 'lexicon')],
  ['powerdns', 'pdns_server', () => startPowerDns(DOMAIN, OTHERS)],
]
for (const [provider, tool, start] of servers) {
  describeWith(['root', 'lexicon', tool, 'dig'], `dns apply at ${provider}`, () => {
    const { server, apply, dns, wanted, place, credentials, configure } = withServer(start, provider)
    let before: string[]

    test('--dry-run shows the difference and changes nothing', async () => {
      before = await server().records()
      const { code, stdout } = await apply('--dry-run')
      expect(code).toBe(0)
      expect(stdout).toMatch(/^create +TXT +\S+r\._domainkey\.shop\.example\.org /m)
      expect(stdout).toMatch(/^keep +MX +shop\.example\.org +only with --mx/m)
      expect(stdout).toMatch(/^change +TXT +_dmarc\.shop\.example\.org +adds the report address/m)
      expect(stdout).toContain(`LEXICON_${provider.toUpperCase()}_AUTH_TOKEN`)
      expect(await server().records()).toEqual(before)
    })

    test('refuses a file of credentials that others can read, and missing ones, before it changes anything', async () => {
      chmodSync(credentials, 0o640)
      const exposed = await apply('--yes')
      chmodSync(credentials, 0o600)
      expect([exposed.code, exposed.stderr]).toEqual([2, expect.stringContaining('only its owner can read')])
      configure(server().address, `provider = "${provider}"\n`)
      const missing = await apply('--yes')
      configure(server().address)
      expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/ needs LEXICON_\w+_AUTH_TOKEN, /)])
      expect(await server().records()).toEqual(before)
    })

    test('without --yes and without a terminal it changes nothing', async () => {
      expect(await apply()).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
      expect(await server().records()).toEqual(before)
    })

    test('--yes creates what is missing, and every other record stays', async () => {
      const { code, stdout, stderr } = await apply('--yes')
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/^created TXT bounces\.shop\.example\.org$/m)
      expect(stdout).toContain('All required records of shop.example.org are correct.')
      for (const secret of secretsIn(server().credentials)) expect(stdout + stderr).not.toContain(secret)
      const after = await server().records()
      expect(after).toEqual(expect.arrayContaining(before))
      const names = after.filter((line) => !before.includes(line)).map((line) => line.split(' ')[0])
      const own = (await wanted()).filter(({ purpose, status }) => status === 'valid' && purpose !== 'dmarc')
      expect(names.toSorted()).toEqual(own.map(({ name }) => `${name}.`).toSorted())
      expect((await dns('check', DOMAIN)).code).toBe(0)
    })

    test('a second run changes nothing', async () => {
      const after = await server().records()
      const { code, stdout } = await apply('--yes')
      expect(code).toBe(0)
      expect(stdout).not.toMatch(/^created|^changed/m)
      expect(await server().records()).toEqual(after)
    })

    test('on a terminal it asks before it extends the DMARC record, and keeps its policy', async () => {
      const answers = { 'Add the report address': 'y', 'Apply 1 change?': 'y' }
      const { code, unanswered } = await onTerminal({}, ['dns', 'apply', DOMAIN, '--config', place.file], answers)
      expect([code, unanswered]).toEqual([0, []])
      const dmarc = (await server().records()).filter((line) => line.startsWith('_dmarc.'))
      expect(dmarc).toEqual([
        expect.stringMatching(/v=DMARC1; p=reject; adkim=s; rua=mailto:reports@office\.example,mailto:/),
      ])
    })

    test('--mx moves the mail of the domain, and nothing else', async () => {
      const before = await server().records()
      expect((await apply('--yes', '--mx')).code).toBe(0)
      const after = await server().records()
      const isMx = (line: string) => line.startsWith('shop.example.org. ') && line.includes(' MX ')
      expect(after.filter(isMx)).toEqual([expect.stringContaining('10 mail.example.com.')])
      expect(after).toEqual(expect.arrayContaining(before.filter((line) => !isMx(line))))
    })
  })
}

describeWith(['root', 'lexicon', 'pdns_server'], 'dns apply', () => {
  const { server, apply, place, credentials, configure, wanted } = withServer(
    () => startPowerDns(DOMAIN, ''),
    'powerdns',
  )
  let zone: Zone
  beforeAll(async () => {
    zone = await startZone()
  })
  afterAll(() => zone.stop())

  test('reports a provider that refuses, without its key, and exits with 1', async () => {
    const secret = 'wrong-key-0123456789'
    writeFileSync(credentials, server().credentials.replace(/(AUTH_TOKEN=).*/, `$1${secret}`))
    const { code, stdout, stderr } = await apply('--yes', '--timeout', '1')
    writeFileSync(credentials, server().credentials)
    expect([code, stderr]).toEqual([1, expect.stringContaining('401')])
    expect(stdout + stderr).not.toContain(secret)
  })

  test('without lexicon it says in one line how to install it, and changes nothing', async () => {
    const before = await server().records()
    const hidden = 'mount --bind /dev/null "$(readlink -f /usr/bin/lexicon)" && exec "$@"'
    const args = ['dns', 'apply', DOMAIN, '--yes', '--json', '--config', place.file]
    const command = ['unshare', '--mount', 'sh', '-c', hidden, 'sh', ...PROGRAM, ...args]
    const { exitCode, output } = await run(command, { env: plainEnvironment() })
    expect([exitCode, output.trim()]).toEqual([1, expect.stringMatching(/^.*Run: apt install lexicon$/)])
    expect(await server().records()).toEqual(before)
  })

  test('takes the credentials from the environment, and waits for records that appear late', async () => {
    configure(zone.address, '')
    zone.set(DOMAIN, 'NS', ['ns1.shop.example.org'])
    const env = Object.fromEntries(
      server()
        .credentials.trim()
        .split('\n')
        .map((line) => line.split('=', 2)),
    ) as Record<string, string>
    env.LEXICON_POWERDNS_AUTH_TOKEN = secretsIn(server().credentials)[0]!
    const show = async (purposes: string[]) => {
      for (const { name, type, value, priority, purpose } of await wanted()) {
        if (purposes.includes(purpose))
          zone.set(name, type, [priority === null ? value : { preference: priority, exchange: value }])
      }
    }
    await show(['ownership', 'spf', 'dmarc', 'return_path'])
    const args = ['dns', 'apply', DOMAIN, '--provider', 'powerdns', '--yes', '--config', place.file]
    const running = await startWith(env, ...args)
    await until('the command to wait', () => running.complaints().includes('waiting for'))
    await show(['dkim'])
    const { code, stdout } = await running.ended
    expect([code, stdout]).toEqual([0, expect.stringContaining('are correct')])
  })

  test('names the provider of an unknown zone as missing, and a zone that DNS does not have', async () => {
    configure(zone.address, '')
    zone.set(DOMAIN, 'NS', ['ns1.shop.example.org'])
    expect((await apply('--dry-run')).stderr).toContain('Name it with --provider')
    zone.remove(DOMAIN)
    expect((await apply('--dry-run')).stderr).toContain('DNS has no zone for')
  })

  test('recognizes a provider by the name servers', async () => {
    configure(zone.address, '')
    zone.set(DOMAIN, 'NS', ['kate.ns.cloudflare.com', 'bob.ns.cloudflare.com'])
    const { stdout } = await apply('--dry-run')
    expect(stdout).toContain('at cloudflare')
    expect(stdout).toContain('cloudflare needs LEXICON_CLOUDFLARE_AUTH_TOKEN')
  })
})

describeWith(['root', 'lexicon', 'named', 'dig'], 'dns apply without the right to update', () => {
  const { apply, server } = withServer(() => startBind(DOMAIN, '', 'reader'), 'ddns')
  test('reports every record that the provider does not have, although lexicon says success', async () => {
    const before = await server().records()
    const { code, stderr } = await apply('--yes', '--timeout', '1')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^MX bounces\.shop\.example\.org: the provider does not have the record/m)
    expect(await server().records()).toEqual(before)
  })
})
