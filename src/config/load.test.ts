import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { ADDRESS_CLASSES, USUAL_HARD } from '../model/hard-bounces.ts'
import { linesOfKeys } from './lines.ts'
import {
  checkConfigFiles,
  formatFaults,
  loadConfigFile,
  makeConfig,
  publicUrlAt,
  readConfig,
  renderExample,
} from './load.ts'
import { environmentName, keysByPath } from './paths.ts'
import { editDistance, nearest } from './suggest.ts'

const HOST = 'hostname = "mail.example.com"\n'
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'postrider-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function read(text: string, env: Record<string, string> = {}) {
  return readConfig({ text, file: 'config.toml', env })
}

function faultsOf(text: string, env: Record<string, string> = {}): string {
  return formatFaults(read(text, env).faults ?? [])
}

function configOf(text: string, env: Record<string, string> = {}) {
  const { config, faults } = read(text, env)
  if (!config) throw new Error(formatFaults(faults))
  return config
}

describe('a config file', () => {
  test('has limits for destinations whose names contain dots', () => {
    const { delivery } = configOf(`${HOST}[delivery.sites."mx.example.net"]\nmax_connections = 2\n`)
    expect(delivery.sites['mx.example.net']).toMatchObject({ maxConnections: 2, maxMailsPerMinute: 0 })
    expect(Object.keys(delivery.sites)).toEqual(['mx.example.net'])
  })

  test('with the host name alone gives every default', () => {
    const config = configOf(HOST)
    expect(config.hostname).toBe('mail.example.com')
    expect(config.http).toEqual({
      listen: { host: '127.0.0.1', port: 8025 },
      listenTls: null,
      listenRedirect: null,
      hstsSeconds: 0,
      publicUrl: 'http://127.0.0.1:8025',
      behindProxy: false,
      dashboard: true,
      mcp: true,
      allowedHosts: [],
      trustedProxies: ['127.0.0.1/32', '::1/128'],
    })
    expect(config.smtp).toEqual({
      certificateFile: null,
      keyFile: null,
      maxConnections: 1000,
      maxConnectionsPerAddress: 50,
      inbound: {
        listen: { host: '0.0.0.0', port: 25 },
        mtaSts: 'testing',
        maxConnectionsPerNetwork: 200,
        connectionsPerMinutePerNetwork: 600,
        mailsPerMinutePerNetwork: 1200,
        unknownRecipientsPerHourPerNetwork: 300,
        unlimitedNetworks: ['127.0.0.0/8', '::1/128'],
      },
      submission: { listen: null, listenTls: null },
    })
    expect(config.delivery.retryScheduleSeconds).toEqual([60, 300, 900, 1800, 3600, 7200, 14400, 28800, 43200])
    expect(config.delivery.smarthost).toBeNull()
    expect(config.webhooks.retryScheduleSeconds).toEqual([5, 300, 1800, 7200])
    expect(config.log).toEqual({ level: 'info', format: 'auto' })
  })

  test('has the hard classes of bounces that there are, and refuses others', () => {
    const hard = (classes: string) => `${HOST}[sending]\nhard_bounces = ${classes}\n`
    expect(configOf(HOST).sending.hardBounces).toEqual(USUAL_HARD)
    expect(configOf(hard(JSON.stringify(ADDRESS_CLASSES))).sending.hardBounces).toEqual(ADDRESS_CLASSES)
    expect(configOf(hard('[]')).sending.hardBounces).toEqual([])
    expect(faultsOf(hard('["reputation"]'))).toContain('expected a list of "no_mailbox", "no_domain"')
  })

  test('has the default plans', () => {
    const numbers = Object.entries(configOf(HOST).plans).map(([name, plan]) => [name, ...Object.values(plan)])
    expect(numbers).toEqual([
      ['free', 60, 1000, 1, 7, 10, 10, 50, 20, 20, 1000, 1e9, 10_000, 200, 100_000, false],
      ['starter', 300, 50_000, 5, 14, 25, 50, 200, 50, 50, 10_000, 1e10, 50_000, 2000, 500_000, false],
      ['pro', 1000, 150_000, 10, 30, 100, 200, 1000, 100, 200, 100_000, 5e10, 200_000, 10_000, 2_000_000, true],
      ['enterprise', -1, -1, -1, 90, 500, 1000, 5000, 200, 1000, 1_000_000, -1, -1, -1, -1, false],
    ])
  })

  test('may define a plan, whose missing keys are those of the free plan', () => {
    const { plans } = configOf(`${HOST}[plans.gold]\ndomains = 3\n[plans.constructor]\ndomains = 4\n[plans.empty]`)
    expect(plans.gold).toEqual({ ...plans.free!, domains: 3 })
    expect(plans.constructor as unknown).toEqual({ ...plans.gold, domains: 4 })
    expect(plans.empty).toEqual(plans.free!)
    expect(configOf(HOST).plans.constructor).toBeUndefined()
  })

  test('is frozen at every depth', () => {
    const config = configOf(`${HOST}delivery.smarthost = "smtp://relay.example.net"`)
    const parts = [config, config.http, config.http.listen, config.plans.free, config.delivery.smarthost]
    expect([...parts, config.delivery.retryScheduleSeconds].every(Object.isFrozen)).toBe(true)
  })

  test('reports all faults at once, each with its line', () => {
    const text = `${HOST}
[http]
listen = "8025"
public_url = "https://mail.example.com/app"
[smtp]
listen = "0.0.0.0:25"
certificate_file = "chain.pem"
[delivery]
retry_schedule_seconds = [
  60, # a comment with ]
  "300",
]
prot = 25
[smpt.inbound]
listen = "off"
[log]
level = "verbose"`
    expect(faultsOf(text)).toBe(
      [
        'config.toml:4: http.listen: expected host:port (an IP address or localhost) or "off", found "8025"',
        'config.toml:5: http.public_url: expected http(s)://host[:port] without a path, or "" to derive it from http.listen, found "https://mail.example.com/app"',
        'config.toml:7: smtp.listen: unknown key. Did you mean smtp.inbound.listen?',
        'config.toml:8: smtp.certificate_file: expected smtp.key_file, because smtp.certificate_file is set',
        'config.toml:10: delivery.retry_schedule_seconds: expected a list of 1 to 100 entries, each a number from 0.1 to 2678400, found [60,"300"]',
        'config.toml:14: delivery.prot: unknown key. Did you mean delivery.port?',
        'config.toml:15: smpt: unknown section. Did you mean smtp?',
        'config.toml:18: log.level: expected one of "debug", "info", "warn", "error", found "verbose"',
      ].join('\n'),
    )
  })

  test('that is empty lacks only the host name', () => {
    expect(faultsOf('')).toBe(
      'config.toml: hostname: expected a hostname such as mail.example.com, but this required key is missing',
    )
  })

  test('that is not TOML is one fault with its line', () => {
    expect(faultsOf(`${HOST}[http\nlisten = "off"`)).toStartWith('config.toml:2: expected TOML, found at column ')
    expect(faultsOf(`${HOST}log.level = "info"\nlog.level = "warn"`)).toStartWith('config.toml:3: expected TOML')
    expect(faultsOf(`${HOST}[log]\n[http]\n[log]`)).toBe(
      'config.toml:4: expected TOML, found at column 2: a duplicate section or key',
    )
    expect(read('= 1').faults).toHaveLength(1)
  })

  test('with a value where a section should be, or a section where a value should be, is refused', () => {
    expect(faultsOf(`http = "127.0.0.1:80"\n${HOST}`)).toBe(
      'config.toml:1: http: expected a section [http], found a value',
    )
    expect(faultsOf(`${HOST}[[http]]\nlisten = "off"`)).toBe(
      'config.toml:2: http: expected a section [http], found a list',
    )
    expect(faultsOf(`${HOST}[delivery.port]\nx = 1`)).toBe(
      'config.toml:2: delivery.port: expected a whole number from 1 to 65535, found {"x":1}',
    )
  })

  test('with a bad key in an inline table names the line of the table', () => {
    expect(faultsOf(`${HOST}log = { level = "info", formt = "json" }`)).toBe(
      'config.toml:2: log.formt: unknown key. Did you mean log.format?',
    )
  })

  const wrong: [line: string, key: string, found: string][] = [
    ['hostname = "localhost"', 'hostname', '"localhost"'],
    ['hostname = "192.0.2.1"', 'hostname', '"192.0.2.1"'],
    ['hostname = "mail..example.com"', 'hostname', '"mail..example.com"'],
    ['hostname = "mail.example.com\\r\\n250 x"', 'hostname', '"mail.example.com\\r\\n250 x"'],
    ['http.listen = "127.0.0.1:65536"', 'http.listen', '"127.0.0.1:65536"'],
    ['http.listen = "::1:80"', 'http.listen', '"::1:80"'],
    ['http.listen = ":80"', 'http.listen', '":80"'],
    ['http.listen = "mail.example.com:80"', 'http.listen', '"mail.example.com:80"'],
    ['delivery.port = 0', 'delivery.port', '0'],
    ['delivery.port = 25.5', 'delivery.port', '25.5'],
    ['delivery.port = "25"', 'delivery.port', '"25"'],
    ['delivery.max_age_seconds = inf', 'delivery.max_age_seconds', 'Infinity'],
    ['delivery.max_age_seconds = nan', 'delivery.max_age_seconds', 'NaN'],
    ['delivery.allow_private_destinations = 1', 'delivery.allow_private_destinations', '1'],
    ['delivery.source_address = "eth0"', 'delivery.source_address', '"eth0"'],
    ['delivery.retry_schedule_seconds = []', 'delivery.retry_schedule_seconds', '[]'],
    ['dns.servers = ["192.0.2.53"]', 'dns.servers', '["192.0.2.53"]'],
    ['dns.servers = ["192.0.2.53:0"]', 'dns.servers', '["192.0.2.53:0"]'],
    ['dns.servers = "192.0.2.53:53"', 'dns.servers', '"192.0.2.53:53"'],
    ['webhooks.retry_schedule_seconds = [1, 2, 3]', 'webhooks.retry_schedule_seconds', '[1,2,3]'],
    ['webhooks.retry_schedule_seconds = [1, 2, 3, -1]', 'webhooks.retry_schedule_seconds', '[1,2,3,-1]'],
    ['webhooks.allowed_private_networks = ["10.0.0.0/33"]', 'webhooks.allowed_private_networks', '["10.0.0.0/33"]'],
    ['webhooks.allowed_private_networks = ["10.0.0.0"]', 'webhooks.allowed_private_networks', '["10.0.0.0"]'],
    ['plans.free.domains = -2', 'plans.free.domains', '-2'],
    ['quality.bounce_rate = 5', 'quality.bounce_rate', '5'],
    ['quality.bounce_rate = 0', 'quality.bounce_rate', '0'],
    ['data_dir = ""', 'data_dir', '""'],
    ['data_dir = "a\\nExecStartPre=b"', 'data_dir', '"a\\nExecStartPre=b"'],
    ['log.level = 2026-11-21', 'log.level', '2026-11-21'],
  ]
  test.each(wrong)('with %s is refused', (line, key, found) => {
    const text = line.startsWith('hostname') ? line : HOST + line
    const reported = faultsOf(text)
    expect(reported).toStartWith(`config.toml:${text.split('\n').length}: ${key}: expected `)
    expect(reported).toEndWith(`, found ${found}`)
    expect(reported.split('\n')).toHaveLength(1)
  })

  test('accepts IPv6 addresses, port 0, localhost and international names', () => {
    const config = configOf(`hostname = "Müllerin.Example."
http.listen = "[::1]:0"
smtp.inbound.listen = "localhost:2525"
dns.servers = ["192.0.2.53:53", "[2001:DB8::53]:5353"]
webhooks.allowed_private_networks = ["10.0.0.0/8", "fd00::/8"]
delivery.source_address = "2001:db8::1"`)
    expect(config.hostname).toBe('xn--mllerin-n2a.example')
    expect(config.http).toMatchObject({ listen: { host: '::1', port: 0 }, publicUrl: 'http://[::1]:0' })
    expect(config.smtp.inbound.listen).toEqual({ host: '127.0.0.1', port: 2525 })
    expect(config.dns.servers).toEqual(['192.0.2.53:53', '[2001:db8::53]:5353'])
    expect(config.webhooks.allowedPrivateNetworks).toEqual(['10.0.0.0/8', 'fd00::/8'])
    expect(config.delivery.sourceAddress).toBe('2001:db8::1')
  })

  test('resolves relative paths from its own folder', () => {
    const { config } = readConfig({ text: `${HOST}data_dir = "data"`, file: '/etc/postrider/config.toml', env: {} })
    expect(config?.dataDir).toBe('/etc/postrider/data')
    expect(configOf(HOST, { POSTRIDER_DATA_DIR: 'data' }).dataDir).toBe(resolve('data'))
  })
})

describe('rules between keys', () => {
  test('a key without a certificate is refused', () => {
    expect(faultsOf(`${HOST}smtp.key_file = "key.pem"`)).toBe(
      'config.toml:2: smtp.key_file: expected smtp.certificate_file, because smtp.key_file is set',
    )
  })

  test('two listeners on one address are refused, unless on port 0 or different hosts', () => {
    expect(faultsOf(`${HOST}http.listen = "127.0.0.1:25"`)).toBe(
      'config.toml:2: http.listen: expected different addresses, found smtp.inbound.listen = 0.0.0.0:25 and http.listen = 127.0.0.1:25',
    )
    expect(faultsOf(`${HOST}metrics.listen = "127.0.0.1:8025"`)).toBe(
      'config.toml:2: metrics.listen: expected different addresses, found metrics.listen = 127.0.0.1:8025 and http.listen = 127.0.0.1:8025',
    )
    const fine =
      'http.listen = "127.0.0.1:0"\nsmtp.inbound.listen = "127.0.0.1:0"\nsmtp.submission.listen = "127.0.0.1:587"'
    expect(faultsOf(HOST + fine)).toBe('')
    expect(faultsOf(`${HOST}http.listen = "192.0.2.1:25"\nsmtp.inbound.listen = "192.0.2.2:25"`)).toBe('')
  })

  test('a part larger than its total is refused', () => {
    expect(faultsOf(`${HOST}[webhooks]\nmax_in_flight = 5`)).toBe(
      'config.toml:3: webhooks.max_in_flight: expected max_per_webhook to be at most max_in_flight (5), found 10',
    )
  })

  test('a selectable plan must exist, configured or by default', () => {
    const chosen = (name: string) =>
      `${HOST}[billing]\nself_service_plans = ["pro", "${name}"]\n[plans.mine]\ndomains = 3`
    expect(faultsOf(chosen('por'))).toBe(
      'config.toml:3: billing.self_service_plans: expected names of plans in [plans], found por',
    )
    expect(faultsOf(chosen('mine'))).toBe('')
  })

  test('a key that is invalid by itself is not checked again', () => {
    expect(read(`${HOST}webhooks.max_in_flight = "5"`).faults).toHaveLength(1)
  })
})

describe('a certificate authority', () => {
  const ACME = `${HOST}tls.mode = "acme"\n`
  const AGREED = `${ACME}tls.acme_agree_terms = true\n`

  test.each([
    [ACME, 'expected tls.acme_agree_terms = true, because tls.mode is "acme"'],
    [AGREED, 'expected http.listen_redirect (usually "0.0.0.0:80"), because tls.mode is "acme"; found "off"'],
    [
      `${AGREED}tls.certificate_file = "a.pem"\ntls.key_file = "b.pem"`,
      'expected no tls.certificate_file, because tls.mode is "acme"',
    ],
    [`${AGREED}tls.names = ["no name"]`, 'expected a list of hostnames such as api.example.com, found ["no name"]'],
    [
      `${AGREED}tls.acme_directory = "http://127.0.0.1/"`,
      'expected https://host[:port]/path, found "http://127.0.0.1/"',
    ],
  ])('%j is refused', (text, fault) => {
    expect(faultsOf(text)).toContain(fault)
  })

  test('needs a separate address for its validation requests', () => {
    const text = `${AGREED}http.listen = "0.0.0.0:80"\nhttp.listen_redirect = "0.0.0.0:80"`
    expect(faultsOf(text)).toContain('and http.listen = 0.0.0.0:80')
    expect(faultsOf(`${AGREED}http.listen_redirect = "0.0.0.0:80"`)).toBe('')
  })
})

describe('zones at the DNS provider', () => {
  test.each([
    ['provider = "ddns"', ''],
    ['', 'expected dns.provider to be one of cloudflare, ddns,'],
    ['provider = "godaddy"', 'expected dns.provider to be one of'],
    ['provider = "namecheap"', 'expected dns.provider to be one of'],
    ['provider = "ddns"\nzone = "pm.example.net"', 'expected none, because'],
  ])('with %s', (lines, fault) => {
    const faults = faultsOf(`${HOST}[dns]\n${lines}\nprovider_zones = ["Example.com."]`)
    if (fault === '') expect(faults).toBe('')
    else expect(faults).toContain(fault)
  })
})

describe('the public address', () => {
  test.each([
    ['http.listen = "0.0.0.0:80"', 'http://mail.example.com:80'],
    ['http.listen = "off"', 'http://mail.example.com'],
    ['http.listen_tls = "0.0.0.0:443"', 'https://mail.example.com'],
    ['http.listen_tls = "127.0.0.1:8443"', 'https://mail.example.com:8443'],
    ['http.public_url = "https://mail.example.com/"', 'https://mail.example.com'],
  ])('with %s is %s', (line, url) => {
    expect(configOf(HOST + line).http.publicUrl).toBe(url)
  })

  test('uses the bound port when derived from port 0; a configured one stays', () => {
    const bound = { listen: { host: '127.0.0.1', port: 40_001 }, listenTls: null }
    const both = { ...bound, listenTls: { host: '127.0.0.1', port: 40_002 } }
    const inClear = 'http.listen = "127.0.0.1:0"'
    expect(publicUrlAt(configOf(`${HOST}${inClear}`), bound)).toBe('http://127.0.0.1:40001')
    expect(publicUrlAt(configOf(`${HOST}${inClear}\nhttp.listen_tls = "127.0.0.1:0"`), both)).toBe(
      'https://mail.example.com:40002',
    )
    expect(publicUrlAt(configOf(`${HOST}http.public_url = "https://m.example"`), bound)).toBe('https://m.example')
  })
})

describe('the environment', () => {
  test('overrides the file, with numbers, booleans and lists', () => {
    const config = configOf(`${HOST}[delivery]\nport = 2525\nworkers = 3`, {
      POSTRIDER_DELIVERY_PORT: '26',
      POSTRIDER_DELIVERY_ALLOW_PRIVATE_DESTINATIONS: 'true',
      POSTRIDER_WEBHOOKS_RETRY_SCHEDULE_SECONDS: '1, 2,3,4.5',
      POSTRIDER_DNS_SERVERS: '127.0.0.1:5353,127.0.0.2:5353',
      POSTRIDER_WEBHOOKS_ALLOWED_PRIVATE_NETWORKS: '',
      POSTRIDER_SMTP_INBOUND_LISTEN: 'off',
      POSTRIDER_PLANS_PRO_DOMAINS: '-1',
      POSTRIDER_PLANS_GOLD_RETENTION_DAYS: '2',
    })
    expect(config.delivery).toMatchObject({ port: 26, workers: 3, allowPrivateDestinations: true })
    expect(config.webhooks).toMatchObject({ retryScheduleSeconds: [1, 2, 3, 4.5], allowedPrivateNetworks: [] })
    expect(config.dns.servers).toEqual(['127.0.0.1:5353', '127.0.0.2:5353'])
    expect(config.smtp.inbound.listen).toBeNull()
    expect(config.plans.pro?.domains).toBe(-1)
    expect(config.plans.gold?.retentionDays).toBe(2)
  })

  test('can hold the whole config', () => {
    const { config } = loadConfigFile(null, { POSTRIDER_HOSTNAME: 'mail.example.com' })
    expect(config?.hostname).toBe('mail.example.com')
  })

  test('corrects a wrong value of the file', () => {
    expect(faultsOf(`${HOST}delivery.port = "x"`, { POSTRIDER_DELIVERY_PORT: '25' })).toBe('')
  })

  test('is named by its variable in a fault', () => {
    expect(faultsOf(HOST, { POSTRIDER_DELIVERY_PORT: 'smtp', POSTRIDER_HTTP_LISTN: 'off' })).toBe(
      [
        'environment: POSTRIDER_HTTP_LISTN: unknown variable. Did you mean POSTRIDER_HTTP_LISTEN?',
        'environment: POSTRIDER_DELIVERY_PORT: expected a whole number from 1 to 65535, found "smtp"',
      ].join('\n'),
    )
    expect(faultsOf(HOST, { POSTRIDER_LOG_FORMAT: '' })).toEndWith('expected one of "auto", "json", "text", found ""')
    expect(faultsOf(HOST, { POSTRIDER_SENDING_REQUIRE_VERIFIED_DOMAIN: 'no' })).toEndWith(
      'expected true or false, found "no"',
    )
  })

  test('may contain our other variables, unrelated ones, and those of a Kubernetes service called postrider', () => {
    const kubernetes = {
      POSTRIDER_SERVICE_HOST: '10.0.0.1',
      POSTRIDER_SERVICE_PORT: '8025',
      POSTRIDER_SERVICE_PORT_HTTP: '8025',
      POSTRIDER_PORT: 'tcp://10.0.0.1:8025',
      POSTRIDER_PORT_8025_TCP: 'tcp://10.0.0.1:8025',
      POSTRIDER_PORT_8025_TCP_ADDR: '10.0.0.1',
    }
    expect(faultsOf(HOST, { ...kubernetes, POSTRIDER_CONFIG: 'x', HOME: '/root', OTHER_HTTP: '1' })).toBe('')
    expect(faultsOf(HOST, { POSTRIDER_HTTP_PUBLC_URL: 'https://mail.example.com' })).toEndWith(
      'Did you mean POSTRIDER_HTTP_PUBLIC_URL?',
    )
    expect(faultsOf(HOST, { POSTRIDER_PORT: '25' })).toStartWith('environment: POSTRIDER_PORT: unknown variable')
  })

  test('has one name for each key', () => {
    const names = [...keysByPath().keys()].map(environmentName)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('POSTRIDER_WEBHOOKS_RETRY_SCHEDULE_SECONDS')
  })
})

describe('behind a proxy', () => {
  const faults = (http: string) => faultsOf(`${HOST}[http]\nbehind_proxy = true\n${http}`)

  test('the public address is https, and the listener serves only the proxy', () => {
    expect(faults('')).toContain('expected http.public_url to be the https:// address of the proxy')
    expect(faults('public_url = "http://api.example.com"')).toEndWith('found http://api.example.com')
    const url = 'public_url = "https://api.example.com"\n'
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) expect(faults(`${url}listen = "${host}:80"`)).toBe('')
    expect(faults(`${url}listen = "0.0.0.0:8025"`)).toContain('the network of the proxy in http.trusted_proxies')
    expect(faults(`${url}listen = "0.0.0.0:8025"\ntrusted_proxies = ["172.17.0.0/16"]`)).toBe('')
    expect(faults(`${url}listen = "off"`)).toContain('expected host:port for the proxy')
  })
})

describe('a smarthost', () => {
  const relay = { host: 'relay.example.net', port: 587, implicitTls: false, user: null, password: null }
  test.each([
    ['smtp://relay.example.net', relay],
    ['smtp://Relay.Example.NET:2525/', { ...relay, port: 2525 }],
    ['smtps://relay.example.net', { ...relay, port: 465, implicitTls: true }],
    [
      'smtps://me%40here:a%2Fb%3Ac@[::1]:465',
      { ...relay, host: '::1', port: 465, implicitTls: true, user: 'me@here', password: 'a/b:c' },
    ],
    ['smtp://127.0.0.1:25', { ...relay, host: '127.0.0.1', port: 25 }],
    ['', null],
  ])('written %s is understood', (text, smarthost) => {
    expect(configOf(HOST, { POSTRIDER_DELIVERY_SMARTHOST: text }).delivery.smarthost).toEqual(smarthost)
  })

  test.each([
    'relay.example.net:25',
    'http://relay.example.net',
    'smtp://user@relay.example.net',
    'smtp://relay.example.net:0',
    'smtp://relay.example.net:65536',
    'smtp://relay.example.net/path',
    'smtp://user:100%@relay.example.net',
    'smtp://user:p#ss@relay.example.net',
    'smtps://:465',
  ])('written %s is refused and its text is not printed', (text) => {
    const reported = faultsOf(HOST, { POSTRIDER_DELIVERY_SMARTHOST: text })
    expect(reported).toEndWith('or "" for none, found a value that is hidden because it is secret')
    expect(reported).not.toContain(text)
  })

  test('is read from a file, from its folder, without the line end', () => {
    writeFileSync(join(folder, 'smarthost'), 'smtps://user:secret@relay.example.net\n', { mode: 0o600 })
    writeFileSync(join(folder, 'with-file.toml'), `${HOST}delivery.smarthost_file = "smarthost"`)
    const { config } = loadConfigFile(join(folder, 'with-file.toml'), {})
    expect(config?.delivery.smarthost?.password).toBe('secret')
    const fromEnvironment = configOf(`${HOST}delivery.smarthost = "smtp://other.example"`, {
      POSTRIDER_DELIVERY_SMARTHOST_FILE: join(folder, 'smarthost'),
    })
    expect(fromEnvironment.delivery.smarthost?.host).toBe('relay.example.net')
  })

  test('in the environment overrides the file that the config names', () => {
    const env = { POSTRIDER_DELIVERY_SMARTHOST: 'smtp://relay.example.net' }
    writeFileSync(join(folder, 'other'), 'smtp://other.example', { mode: 0o600 })
    const { config } = readConfig({
      text: `${HOST}delivery.smarthost_file = "other"`,
      file: join(folder, 'c.toml'),
      env,
    })
    expect(config?.delivery.smarthost?.host).toBe('relay.example.net')
  })

  test('in a file that others can read is refused, with the command that corrects it', () => {
    const file = join(folder, 'my secret')
    const faults = () => faultsOf(HOST, { POSTRIDER_DELIVERY_SMARTHOST_FILE: file })
    writeFileSync(file, 'smtp://user:hunter2@relay.example.net')
    chmodSync(file, 0o644)
    expect(faults()).toEndWith(`expected a file that only its owner can read. Run: chmod 600 '${file}'`)
    for (const mode of [0o640, 0o600, 0o400]) {
      chmodSync(file, mode)
      expect(faults()).toBe('')
    }
  })

  test('can come from systemd credentials, which override the file and not the environment', () => {
    const credentials = mkdtempSync(join(folder, 'credentials-'))
    writeFileSync(join(credentials, 'delivery.smarthost'), 'smtp://given.example\n', { mode: 0o600 })
    writeFileSync(join(credentials, 'of-another-program'), '')
    const env = { CREDENTIALS_DIRECTORY: credentials }
    const text = `${HOST}delivery.smarthost = "smtp://file.example"`
    expect(configOf(text, env).delivery.smarthost?.host).toBe('given.example')
    const above = { ...env, POSTRIDER_DELIVERY_SMARTHOST: 'smtp://environment.example' }
    expect(configOf(text, above).delivery.smarthost?.host).toBe('environment.example')
    writeFileSync(join(credentials, 'delivery.smarthost'), 'relay')
    expect(faultsOf(text, env)).toStartWith('credentials: delivery.smarthost: expected smtp://')
  })

  test('given twice in one place, or in a file that is not there, is refused', () => {
    expect(faultsOf(`${HOST}[delivery]\nsmarthost = ""\nsmarthost_file = "x"`)).toBe(
      'config.toml:4: delivery.smarthost_file: expected either delivery.smarthost or delivery.smarthost_file, found both',
    )
    expect(faultsOf(`${HOST}delivery.smarthost_file = "no-such-file"`)).toBe(
      'config.toml:2: delivery.smarthost_file: expected a readable file, found "no-such-file": no such file or folder',
    )
    expect(faultsOf(HOST, { POSTRIDER_DELIVERY_SMARTHOST_FILE: folder })).toEndWith('is a folder')
  })
})

test('a URL of the database can be in a file, and is hidden where settings are listed', () => {
  const url = 'postgres://mail:secret@db1,db2/postrider'
  writeFileSync(join(folder, 'database-url'), `${url}\n`, { mode: 0o600 })
  const text = `${HOST}[database]\nurl_file = ${JSON.stringify(join(folder, 'database-url'))}`
  const read = readConfig({ text, file: join(folder, 'c.toml'), env: {} })
  if (!read.config) throw new Error('the config has faults')
  expect(read.config.database).toEqual({ url, caFile: null })
  expect(read.settings().find(({ key }) => key === 'database.url')?.value).toBe('(secret)')
  expect(configOf(text, { POSTRIDER_DATABASE_URL: 'postgres://other' }).database.url).toBe('postgres://other')
})

describe('files', () => {
  // threat: operator-mistakes
  test('a config that is missing, a folder, or not UTF-8 is a fault', () => {
    const missing = join(folder, 'missing.toml')
    expect(formatFaults(loadConfigFile(missing, {}).faults ?? [])).toBe(
      `${missing}: expected a readable file, no such file or folder`,
    )
    expect(formatFaults(loadConfigFile(folder, {}).faults ?? [])).toEndWith('expected a readable file, is a folder')
    const latin = join(folder, 'latin.toml')
    writeFileSync(latin, Buffer.from('hostname = "m\xfcller.example"', 'latin1'))
    expect(formatFaults(loadConfigFile(latin, {}).faults ?? [])).toEndWith('found bytes that are not UTF-8')
  })

  // Only root may act as another user.
  test.skipIf(process.getuid!() !== 0)('that belong to another user say who is who and whom to run as', () => {
    const path = join(folder, 'others.toml')
    writeFileSync(path, HOST, { mode: 0 })
    process.seteuid!(65_534)
    const { faults } = loadConfigFile(path, {})
    process.seteuid!(0)
    expect(formatFaults(faults!)).toMatch(
      /permission denied: this process has uid 65534 and gid 0, .* belongs to uid 0 and gid 0 \(mode 700\)\. Run the command as root or as the user postrider$/,
    )
  })

  test('may have a byte order mark and CRLF line ends', () => {
    const windows = join(folder, 'windows.toml')
    writeFileSync(windows, '\ufeffhostname = "mail.example.com"\r\n[http]\r\nlisten = "x"\r\n')
    expect(formatFaults(loadConfigFile(windows, {}).faults ?? [])).toStartWith(`${windows}:3: http.listen: expected`)
  })

  test('named in the config are checked separately', () => {
    const pem = join(folder, 'chain.pem')
    writeFileSync(pem, '')
    chmodSync(pem, 0o600)
    const config = makeConfig({
      hostname: 'mail.example.com',
      smtp: { certificate_file: pem, key_file: join(folder, 'none.pem') },
    })
    expect(formatFaults(checkConfigFiles(config, 'config.toml'))).toBe(
      `config.toml: smtp.key_file: expected a readable file, found "${join(folder, 'none.pem')}": no such file or folder`,
    )
    const ofFolder = makeConfig({ hostname: 'mail.example.com', tls: { certificate_file: pem, key_file: folder } })
    expect(formatFaults(checkConfigFiles(ofFolder, 'config.toml'))).toEndWith(`found "${folder}": is a folder`)
    expect(checkConfigFiles(makeConfig({ hostname: 'mail.example.com' }), 'config.toml')).toEqual([])
  })
})

describe('values made by the program', () => {
  test('are checked like a file', () => {
    expect(makeConfig({ hostname: 'mail.example.com', http: { listen: 'off' } }).http.listen).toBeNull()
    expect(() => makeConfig({ hostname: 'mail.example.com', http: { listen: '80' } })).toThrow(
      'values: http.listen: expected host:port',
    )
    expect(() => makeConfig({})).toThrow('hostname')
  })
})

describe('the example file', () => {
  test('matches the schema (bun scripts/example.ts writes it)', () => {
    expect(readFileSync(join(import.meta.dir, '../../config.example.toml'), 'utf8')).toBe(renderExample())
  })

  test('is a valid config, also with every default uncommented', () => {
    const example = renderExample()
    const uncommented = example.replaceAll(/^#(\w+ = )/gm, '$1')
    const defaults = makeConfig({ hostname: 'mail.example.com' })
    expect(configOf(example)).toEqual(defaults)
    expect(configOf(uncommented)).toEqual(defaults)
    const uncommentedLines = uncommented.split('\n').filter((line) => /^\w+ = /.test(line))
    expect(uncommentedLines).toHaveLength(keysByPath().size)
  })

  test('contains chosen values uncommented', () => {
    const text = renderExample({
      hostname: 'mx.example.org',
      data_dir: '/srv/"mail"',
      dns: { servers: ['127.0.0.1:53'] },
    })
    expect(configOf(text)).toMatchObject({
      hostname: 'mx.example.org',
      dataDir: '/srv/"mail"',
      dns: { servers: ['127.0.0.1:53'] },
    })
  })
})

describe('lines of keys', () => {
  test('are found through strings, lists and comments that look like keys', () => {
    const text = [
      'a = """', // 1
      'b = 1 """', // 2
      "'c d' = '''", // 3
      "[x]'''", // 4
      'e = [ # ]', // 5
      '  "]", [ 1 ],', // 6
      ']', // 7
      '', // 8
      '  [ t . "u.v" ] # f = 1', // 9
      'g.h = { i = "}" }', // 10
      '[[list]]', // 11
      'j = "# \\" ["', // 12
      'k = 1', // 13
    ].join('\n')
    expect(Object.fromEntries(linesOfKeys(text))).toEqual({
      a: 1,
      'c d': 3,
      e: 5,
      t: 9,
      't.u.v': 9,
      't.u.v.g': 10,
      't.u.v.g.h': 10,
      list: 11,
      'list.0': 11,
      'list.0.j': 12,
      'list.0.k': 13,
    })
  })

  test('end where the text is not TOML', () => {
    expect([...linesOfKeys('a = 1\n???\nb = 2')]).toEqual([['a', 1]])
    expect(linesOfKeys('').size).toBe(0)
  })
})

describe('suggestions', () => {
  test('count inserted, dropped, changed and swapped letters', () => {
    expect(editDistance('listen', 'listen')).toBe(0)
    expect(editDistance('lisetn', 'listen')).toBe(1)
    expect(editDistance('', 'abc')).toBe(3)
    expect(editDistance('kitten', 'sitting')).toBe(3)
  })

  test('are made only for a similar key', () => {
    expect(nearest('hostnme', ['data_dir', 'hostname'])).toBe('hostname')
    expect(nearest('colour', ['data_dir', 'hostname'])).toBeNull()
  })
})
