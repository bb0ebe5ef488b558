import { Database } from 'bun:sqlite'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Daemon, startDaemon } from './daemon.ts'
import { freePort } from './free-port.ts'
import { until } from './patience.ts'
import { run } from './real-tools.ts'

/** Real name servers with a zone that lexicon can change: BIND by RFC 2136, PowerDNS by its API. */
export interface ProviderServer {
  /** `ip:port` for queries. */
  address: string
  /** Lines for the credentials file. */
  credentials: string
  /** All records of the zone as sorted lines, without the SOA record, and without TTL, which all records of a name and
   *  type share. */
  records(): Promise<string[]>
  stop(): Promise<void>
}

const SECRET = Buffer.from('a secret of thirty-two characters').toString('base64')
/** lexicon asks port 53 only, which other programs have on 127.0.0.1, and other test files on theirs. named listens only on
 *  addresses of an interface. */
const FORWARDED = `127.77.${(process.pid >> 8) % 256}.${process.pid % 256}`

/** Starts BIND with a zone. The key `lexicon` may change and transfer it; the key `reader` may only transfer it. */
export async function startBind(zone: string, records: string, key: 'lexicon' | 'reader'): Promise<ProviderServer> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-bind-'))
  const port = await freePort()
  const keys = ['lexicon', 'reader'].map((name) => `key "${name}" { algorithm hmac-sha256; secret "${SECRET}"; };`)
  writeFileSync(
    join(folder, 'named.conf'),
    `${keys.join('\n')}
options { directory "${folder}"; pid-file "${folder}/pid"; session-keyfile "${folder}/session"; recursion no;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; dnssec-validation no; };
controls {};
zone "${zone}" { type primary; file "${folder}/zone"; allow-update { key lexicon; };
  allow-transfer { key lexicon; key reader; }; };
`,
  )
  writeFileSync(join(folder, 'zone'), zoneFile(zone, records))
  const daemon = startDaemon(['named', '-g', '-c', join(folder, 'named.conf')], { folder })
  await until('named to answer', () => answers(daemon, port, zone))
  const forwarder = createServer((socket) => {
    const inner = connect(port, '127.0.0.1')
    socket.pipe(inner).pipe(socket)
    for (const each of [socket, inner]) each.on('error', () => each.destroy())
  })
  await once(forwarder.listen(53, FORWARDED), 'listening')
  return {
    address: `127.0.0.1:${port}`,
    credentials: `LEXICON_DDNS_AUTH_TOKEN=hmac-sha256:${key}:${SECRET}\nLEXICON_DDNS_DDNS_SERVER=${FORWARDED}\n`,
    records: async () => {
      const signed = ['-y', `hmac-sha256:reader:${SECRET}`]
      const { output } = await run([
        'dig',
        '@127.0.0.1',
        '-p',
        String(port),
        ...signed,
        '+noall',
        '+answer',
        zone,
        'AXFR',
      ])
      const lines = output.split('\n').map((line) => line.replace(/\s+/g, ' ').trim())
      const own = lines.filter((line) => / IN (?!SOA|TSIG)/.test(line))
      return own.map((line) => line.replace(/^(\S+) \d+ /, '$1 ')).toSorted()
    },
    stop: async () => {
      forwarder.close()
      await ended(daemon, folder)
    },
  }
}

/** Starts PowerDNS with a zone and its API. */
export async function startPowerDns(zone: string, records: string): Promise<ProviderServer> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-pdns-'))
  const [dnsPort, apiPort] = [await freePort(), await freePort()]
  const database = new Database(join(folder, 'pdns.sqlite3'), { create: true })
  database.exec(readFileSync('/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql', 'utf8'))
  database.close()
  mkdirSync(join(folder, 'socket'))
  const settings = {
    launch: 'gsqlite3',
    'gsqlite3-database': join(folder, 'pdns.sqlite3'),
    'local-address': '127.0.0.1',
    'local-port': dnsPort,
    api: 'yes',
    'api-key': SECRET,
    webserver: 'yes',
    'webserver-address': '127.0.0.1',
    'webserver-port': apiPort,
    'socket-dir': join(folder, 'socket'),
    'cache-ttl': 0,
    'query-cache-ttl': 0,
    'negquery-cache-ttl': 0,
    'zone-cache-refresh-interval': 0,
    daemon: 'no',
    guardian: 'no',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(folder, 'pdns.conf'), lines.join(''))
  const daemon = startDaemon(['pdns_server', `--config-dir=${folder}`], { folder })
  const api = `http://127.0.0.1:${apiPort}`
  const headers = { 'x-api-key': SECRET, 'content-type': 'application/json' }
  const zones = `${api}/api/v1/servers/localhost/zones`
  await until('the API of PowerDNS', async () => (await fetch(zones, { headers }).catch(() => null))?.ok === true)
  const body = { name: `${zone}.`, kind: 'Native', zone: zoneFile(zone, records) }
  const made = await fetch(zones, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!made.ok) throw new Error(`PowerDNS: ${await made.text()}`)
  return {
    address: `127.0.0.1:${dnsPort}`,
    credentials: `LEXICON_POWERDNS_AUTH_TOKEN=${SECRET}\nLEXICON_POWERDNS_PDNS_SERVER=${api}\n`,
    records: async () => {
      const answer = await fetch(`${zones}/${zone}.`, { headers })
      const { rrsets } = (await answer.json()) as {
        rrsets: { name: string; type: string; records: { content: string }[] }[]
      }
      return rrsets
        .filter(({ type }) => type !== 'SOA')
        .flatMap(({ name, type, records: own }) => own.map((each) => `${name} IN ${type} ${each.content}`))
        .toSorted()
    },
    stop: () => ended(daemon, folder),
  }
}

function zoneFile(zone: string, records: string): string {
  return `$ORIGIN ${zone}.\n$TTL 300\n@ IN SOA ns1 hostmaster 1 3600 600 86400 60\n@ IN NS ns1\nns1 IN A 127.0.0.1\n${records}`
}

async function answers(daemon: Daemon, port: number, zone: string): Promise<boolean> {
  if (!daemon.isRunning()) throw new Error(daemon.log())
  const { output } = await run(['dig', '@127.0.0.1', '-p', String(port), '+short', '+time=1', '+tries=1', zone, 'NS'])
  return output.includes('ns1')
}

async function ended(daemon: Daemon, folder: string): Promise<void> {
  await daemon.end('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
