import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/patience.ts'
import { addressesOf, type Network } from './network.ts'

/** BIND as the DNS of the whole world: it has the root, and every zone that anybody asks for. */
export interface NameServer {
  /** Adds lines to a zone, as its owner does, and waits until they are served. */
  publish(zone: string, lines: string): Promise<void>
  stop(): Promise<void>
}

const WORLD = addressesOf(1)
const both = (name: string, host: number) => `${name} A ${addressesOf(host).v4}\n${name} AAAA ${addressesOf(host).v6}\n`
/** 198.97.38.0/24 and 3000::/64 */
const REVERSE_4 = '38.97.198.in-addr.arpa'
const REVERSE_6 = `${'0.'.repeat(15)}3.ip6.arpa`

/** Zones of others, before anybody publishes records for the new server. A mailbox provider at two hosts: one has no
 *  IPv6 address, one no IPv4 address. */
const ZONES: Record<string, string> = {
  '.': both('ns.world.', 1),
  'example.com': `${['db', 'shop', 'hooks', 'acme'].map((name) => `${name} A ${WORLD.v4}\n`).join('')}login A ${addressesOf(4).v4}\n`,
  'elsewhere.example': `@ MX 10 mx\n${both('mx', 1)}`,
  'customer.example': `@ MX 10 mx\n${both('mx', 1)}`,
  'four.example': `@ MX 10 mx\nmx A ${addressesOf(4).v4}\n`,
  'six.example': `@ MX 10 mx\nmx AAAA ${addressesOf(6).v6}\n`,
  'gmail.com': `@ MX 10 mx\n${both('mx', 1)}`,
  'outlook.com': `@ MX 10 mx\n${both('mx', 1)}`,
  'yahoo.com': `@ MX 10 mx\n${both('mx', 1)}`,
  [REVERSE_4]: '1 PTR mx.elsewhere.example.\n4 PTR mx.four.example.\n',
  [REVERSE_6]: '',
}

/** The owner name and type of the reverse record of a host, below REVERSE_4 or REVERSE_6. */
export const reverseOf = (host: number, name: string) => ({
  [REVERSE_4]: `${host} PTR ${name}.\n`,
  [REVERSE_6]: `${[...String(host).padStart(4, '0')].reverse().join('.')}${'.0'.repeat(12)} PTR ${name}.\n`,
})

export async function startNameServer(network: Network, parent: string): Promise<NameServer> {
  const folder = join(parent, 'named')
  mkdirSync(folder)
  const texts = new Map(Object.entries(ZONES))
  let serial = 1
  const fileOf = (zone: string) => join(folder, zone === '.' ? 'root' : zone)
  const write = (zone: string) => {
    const head = `$TTL 60\n@ SOA ns.world. root.world. ${serial} 3600 600 86400 5\n@ NS ns.world.\n`
    writeFileSync(fileOf(zone), `${head}${texts.get(zone)}`)
  }
  for (const zone of texts.keys()) write(zone)
  const zones = [...texts.keys()].map((zone) => `zone "${zone}" { type primary; file "${fileOf(zone)}"; };`)
  const options = `directory "${folder}"; pid-file none; session-keyfile none; recursion yes; allow-recursion { any; };
    allow-query { any; }; listen-on { any; }; listen-on-v6 { any; }; dnssec-validation no; empty-zones-enable no;`
  writeFileSync(join(folder, 'named.conf'), `options { ${options} };\ncontrols { };\n${zones.join('\n')}\n`)
  const named = network.start(['named', '-g', '-c', join(folder, 'named.conf')], folder)
  const serialOf = (zone: string) => network.must(['dig', '+short', '+time=1', '+tries=1', `@${WORLD.v4}`, zone, 'SOA'])
  const serves = (zone: string) =>
    until(`BIND to serve ${zone}`, async () => {
      if (!named.isRunning()) throw new Error(`named ended: ${named.log()}`)
      return (await serialOf(zone).catch(() => '')).split(' ')[2] === String(serial)
    })
  await serves('.')
  return {
    publish: async (zone, lines) => {
      if (!texts.has(zone)) throw new Error(`BIND has no zone ${zone}`)
      texts.set(zone, `${texts.get(zone)}${lines}\n`)
      serial++
      write(zone)
      process.kill(named.pid, 'SIGHUP')
      await serves(zone)
    },
    stop: () => named.end('SIGTERM'),
  }
}
