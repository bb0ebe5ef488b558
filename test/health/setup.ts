import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { startZone, type Zone, type ZoneRecord } from '../../src/cli/try/zone-server.ts'
import { spfAllows } from '../../src/domains/spf.ts'
import { createResolver, type Resolver } from '../../src/net/dns/resolver.ts'
import { type Check, type CheckResult, runChecks } from '../../src/operating/health/check.ts'
import { machineChecks } from '../../src/operating/health/checks.ts'
import type { CheckDeps, Installation } from '../../src/operating/health/deps.ts'
import { systemClock } from '../../src/os/clock.ts'
import { systemRandom } from '../../src/os/random.ts'
import { greet } from '../../src/sending/outbound/smtp/greet.ts'

/** A machine with its own surroundings: DNS over UDP, mail servers on loopback. */

export const HOSTNAME = 'mail.sender.example'
/** Public addresses, to which nothing connects. */
export const IPV4 = '11.22.33.44'
export const IPV6 = '2600::44'

export interface TestMachine {
  zone: Zone
  resolver: Resolver
  /** With short timeouts, for name servers that are silent. */
  impatient: Resolver
  /** The result of one check of the table, with these changes to the installation and its surroundings. */
  check(
    name: string,
    change?: { installation?: Partial<Installation>; deps?: Partial<CheckDeps> },
  ): Promise<CheckResult>
  stop(): Promise<void>
}

export const INSTALLATION: Installation = {
  hostname: HOSTNAME,
  dataDir: '/nowhere',
  minFreeBytes: 0,
  memoryBytes: 0,
  messageBytes: 26_214_400,
  listeners: [],
  isShared: false,
  sourceAddress: null,
  sendingAddresses: [],
  addressesOfNodes: [],
  smarthost: null,
  relays: [],
  domains: [{ name: 'sender.example', returnPathHost: 'bounces.sender.example' }],
  delegated: null,
  server: null,
  certificateFiles: [],
  authority: null,
}

const verdicts = new Set<string>()

/** Call it before the first test of a file: all files share this module. */
export const clearVerdicts = () => verdicts.clear()

/** All verdicts since clearVerdicts, sorted, with messages and advice; numbers and paths are replaced, because
 *  they differ between machines and runs. */
export const verdictTexts = () => [...verdicts].sort()

function note({ name, status, message, advice }: CheckResult): void {
  const text = [`${name} ${status}`, `message: ${message}`, `advice: ${advice ?? 'none'}`].join('\n')
  verdicts.add(
    text
      .replaceAll(tmpdir(), '/tmp')
      .replace(/\/tmp\/[\w./-]+/g, 'PATH')
      .replace(/by bun\S*/g, 'by PROGRAM')
      .replace(/\d+/g, 'N'),
  )
}

/** Everything is correct, except that there are no mail servers to connect to. */
export async function startTestMachine(more: ZoneRecord[] = []): Promise<TestMachine> {
  const zone = await startZone([...WELL, ...more])
  const asking = { servers: [zone.address], clock: systemClock, random: systemRandom, maxCacheEntries: 0, tries: 1 }
  const resolver = createResolver(asking)
  const base: CheckDeps = {
    now: systemClock.now,
    machineNow: systemClock.now,
    resolver,
    spfAllows: (record, host, sender) => spfAllows(record, host, sender, resolver),
    nameServers: [zone.address],
    isTrusted: () => true,
    validates: async () => true,
    ownAddresses: () => [IPV4],
    mayConnect: () => true,
    greet: async () => ({ isReached: false, problem: 'no server here', words: '', durationMs: 0 }),
    provider: null,
    greetRelay: async () => ({ isReached: false, problem: 'not here', words: '', durationMs: 0 }),
    delegation: { namesAtParent: async () => null, primaryAt: async () => null },
    askTime: async () => null,
    held: [],
    proc: '/nowhere',
    sys: '/nowhere',
    units: [],
    readerSeparation: async () => ({ kind: 'confined', landlock: 7, why: null, broken: [] }),
    looksOutside: true,
  }
  return {
    zone,
    resolver,
    impatient: createResolver({ ...asking, timeoutMs: 100 }),
    check: async (name, { installation = {}, deps = {} } = {}) => {
      const checks = machineChecks({ ...INSTALLATION, ...installation }, { ...base, ...deps })
      const [result] = await runChecks([checks.find((check: Check) => check.name === name)!])
      if (result === undefined) throw new Error(`no check ${name}`)
      note(result)
      return result
    },
    stop: async () => {
      resolver.close()
      await zone.stop()
    },
  }
}

const WELL: ZoneRecord[] = [
  { name: HOSTNAME, type: 'A', data: IPV4 },
  { name: '44.33.22.11.in-addr.arpa', type: 'PTR', data: HOSTNAME },
  { name: '_dmarc.sender.example', type: 'TXT', data: 'v=DMARC1; p=reject' },
]

/** The MX of the big providers, all on this machine. */
export const PROVIDERS: ZoneRecord[] = ['gmail.com', 'outlook.com', 'yahoo.com'].flatMap((name) => [
  { name, type: 'MX' as const, data: { preference: 20, exchange: `second.${name}` } },
  { name, type: 'MX' as const, data: { preference: 10, exchange: `mx.${name}` } },
  { name: `mx.${name}`, type: 'A' as const, data: '127.0.0.1' },
])

/** A minimal SMTP server: it sends a greeting, answers EHLO as configured, and says goodbye. */
export async function startGreeter(words: { greeting?: string; ehlo?: string } = {}) {
  const { greeting = '220 mx.example', ehlo = '250 mx.example' } = words
  const said: string[] = []
  const server: Server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(`${greeting}\r\n`)
    socket.on('data', (bytes) => {
      for (const line of bytes.toString().split('\r\n').filter(Boolean)) {
        said.push(line)
        socket.write(line.startsWith('EHLO') ? `${ehlo.replaceAll('\n', '\r\n')}\r\n` : '221 bye\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { port, said, stop: () => new Promise((resolve) => server.close(resolve)) }
}

/** Connects to that port of this machine for any address. */
export function callingAt(port: number): CheckDeps['greet'] {
  const us = { hostname: HOSTNAME, sourceAddress: null, timeoutMs: 30_000 }
  return (host) => greet({ host, address: '127.0.0.1', port, tls: 'never', demand: 'none', login: null }, us)
}
