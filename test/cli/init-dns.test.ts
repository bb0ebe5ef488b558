import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type ProviderServer, startPowerDns } from '../support/dns-providers.ts'
import { describeWith, run } from '../support/real-tools.ts'
import { onTerminal, PROGRAM, plainEnvironment, startWith, testFolder } from './command.ts'

/** `init --dns` with the real lexicon and PowerDNS. Each test has its own domain of the zone. */

const ZONE = 'example.org'

describeWith(['root', 'lexicon', 'pdns_server'], 'init --dns', () => {
  let server: ProviderServer
  let place: ReturnType<typeof testFolder>
  beforeAll(async () => {
    server = await startPowerDns(ZONE, 'www IN A 192.0.2.80\n')
  })
  afterAll(() => server.stop())
  beforeEach(() => {
    place = testFolder()
  })
  afterEach(() => place.remove())

  const credentials = () =>
    Object.fromEntries(
      server.credentials
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ) as Record<string, string>
  const environment = (): Record<string, string> => ({ ...credentials(), POSTRIDER_DNS_SERVERS: server.address })
  const argsFor = (domain: string) => {
    const places = ['--config', place.file, '--data-dir', place.dataDir]
    return [
      'init',
      ...places,
      '--domain',
      domain,
      '--hostname',
      'mail.example.com',
      '--dns',
      'powerdns',
      '--skip-checks',
    ]
  }
  const init = async (env: Record<string, string>, domain: string, ...more: string[]) =>
    (await startWith(env, ...argsFor(domain), ...more)).ended

  test('publishes the records after it has printed the key, stores no key of the provider, and a second run changes nothing', async () => {
    const before = await server.records()
    const { code, stdout, stderr } = await init(environment(), 'one.example.org')
    expect([code, stderr]).toEqual([0, ''])
    const steps = ['svc_live_', '1. init publishes these records at powerdns', 'created MX bounces.one', 'are correct.']
    const at = steps.map((text) => stdout.indexOf(text))
    expect(at).toEqual(at.toSorted((a, b) => a - b))
    expect(at).not.toContain(-1)
    const after = await server.records()
    expect(after).toEqual(expect.arrayContaining(before))
    expect(after.filter((line) => line.includes('._domainkey.one.example.org.'))).toHaveLength(2)
    expect(readFileSync(place.file, 'utf8')).toMatch(/^provider = "powerdns"$/m)

    const secret = credentials().LEXICON_POWERDNS_AUTH_TOKEN!
    const files = readdirSync(place.folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    expect(files.length).toBeGreaterThan(2)
    for (const { parentPath, name } of files) {
      expect([name, readFileSync(`${parentPath}/${name}`).includes(secret)]).toEqual([name, false])
    }

    const second = await init(environment(), 'one.example.org')
    expect([second.code, second.stderr]).toEqual([0, ''])
    expect(second.stdout).toContain('Publish them with: postrider dns apply one.example.org --provider powerdns')
    expect(await server.records()).toEqual(after)
  })

  test('without credentials or with a name that is none it writes nothing', async () => {
    const { LEXICON_POWERDNS_AUTH_TOKEN: _, ...rest } = environment()
    const missing = await init(rest, 'none.example.org')
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('LEXICON_POWERDNS_AUTH_TOKEN')])
    const wrong = await init(environment(), 'none.example.org', '--dns', '../x')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('the name of a provider')])
    expect([existsSync(place.file), existsSync(place.dataDir)]).toEqual([false, false])
  })

  test('without lexicon it says in one line how to install it, and writes nothing', async () => {
    const hidden = 'mount --bind /dev/null "$(readlink -f /usr/bin/lexicon)" && exec "$@"'
    const command = ['unshare', '--mount', 'sh', '-c', hidden, 'sh', ...PROGRAM, ...argsFor('none.example.org')]
    const { exitCode, output } = await run(command, { env: { ...plainEnvironment(), ...environment() } })
    expect([exitCode, output.trim()]).toEqual([1, expect.stringMatching(/^.*Run: apt install lexicon$/)])
    expect(existsSync(place.file)).toBe(false)
  })

  test('a provider that refuses leaves domain and key, and the message names the next command', async () => {
    const env = { ...environment(), LEXICON_POWERDNS_AUTH_TOKEN: 'wrong-key-0123456789' }
    const { code, stdout, stderr } = await init(env, 'refused.example.org')
    expect([code, stderr]).toEqual([1, expect.stringContaining('401')])
    expect(stdout).toContain('svc_live_')
    expect(stdout).toContain('postrider dns apply refused.example.org')
    expect(stdout + stderr).not.toContain('wrong-key')

    const repeated = await init(env, 'json.example.org', '--json', '--org', 'Another')
    const made = JSON.parse(repeated.stdout)
    expect([repeated.code, made.api_key]).toEqual([1, expect.stringMatching(/^svc_live_/)])
    expect(made.dns).toMatchObject({ zone: 'example.org', provider: 'powerdns', ok: false })
    expect(made.dns.faults).toContainEqual(expect.stringContaining('401'))
    expect(repeated.stdout).not.toContain('wrong-key')
  })

  test('on a terminal it asks, and without consent DNS stays as it is', async () => {
    const before = await server.records()
    const args = [...argsFor('asked.example.org'), '--contact', 'ann@example.org']
    const answers = { 'Serve HTTPS': 'n', 'changes?': 'n' }
    const { code, text, unanswered } = await onTerminal(environment(), args, answers)
    expect([code, unanswered]).toEqual([1, []])
    expect(text).toContain('nothing was changed')
    expect(await server.records()).toEqual(before)
    expect(existsSync(place.file)).toBe(true)
  })
})
