import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDaemon } from './daemon.ts'
import { freePort } from './free-port.ts'
import { until } from './patience.ts'
import { run } from './real-tools.ts'

/** A name server of Debian's packages with one zone that a TSIG key may change, in a folder of its own. */
export interface RealNameServer {
  port: number
  /** TXT records of a name as dig shows them. */
  dig(name: string, type: string): Promise<string>
  stop(): Promise<void>
}

export interface RealZone {
  zone: string
  key: { name: string; algorithm: string; secret: string }
  port?: number
}

const ZONE_FILE = `$TTL 300
@ IN SOA ns.invalid. postmaster.invalid. 1 3600 600 604800 60
@ IN NS ns.invalid.
www IN TXT "of somebody else"
`

/** BIND. */
export async function startBind({ zone, key, port }: RealZone): Promise<RealNameServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bind-'))
  const at = port ?? (await freePort())
  writeFileSync(join(folder, 'zone'), ZONE_FILE)
  writeFileSync(
    join(folder, 'named.conf'),
    `options { directory "${folder}"; listen-on port ${at} { 127.0.0.1; }; listen-on-v6 { none; }; recursion no;
  pid-file "${folder}/pid"; session-keyfile "${folder}/session"; managed-keys-directory "${folder}"; };
controls { };
key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };
zone "${zone}" { type primary; file "zone"; allow-update { key "${key.name}"; }; allow-transfer { key "${key.name}"; }; };
`,
  )
  return started(['named', '-g', '-c', join(folder, 'named.conf')], at, zone, folder)
}

/** Knot. */
export async function startKnot({ zone, key, port }: RealZone): Promise<RealNameServer> {
  const folder = mkdtempSync(join(tmpdir(), 'knot-'))
  const at = port ?? (await freePort())
  writeFileSync(join(folder, `${zone}.zone`), ZONE_FILE)
  writeFileSync(
    join(folder, 'knot.conf'),
    `server:
  rundir: ${folder}
  listen: 127.0.0.1@${at}
database:
  storage: ${folder}
  journal-db-max-size: 16M
key:
  - id: ${key.name}
    algorithm: ${key.algorithm}
    secret: ${key.secret}
acl:
  - id: postrider
    key: ${key.name}
    action: [transfer, update]
template:
  - id: default
    storage: ${folder}
zone:
  - domain: ${zone}
    acl: postrider
`,
  )
  return started(['knotd', '-c', join(folder, 'knot.conf')], at, zone, folder)
}

async function started(command: string[], port: number, zone: string, folder: string): Promise<RealNameServer> {
  const daemon = startDaemon(command, { folder })
  const dig = async (name: string, type: string) =>
    (
      await run(['dig', '@127.0.0.1', '-p', String(port), name, type, '+short', '+norec', '+time=1', '+tries=1'])
    ).output.trim()
  await until(`${command[0]} to answer`, async () => {
    if (!daemon.isRunning()) throw new Error(`${command[0]} ended:\n${daemon.log()}`)
    return (await dig(zone, 'NS')) === 'ns.invalid.'
  })
  return {
    port,
    dig,
    stop: async () => {
      await daemon.end('SIGTERM')
      rmSync(folder, { recursive: true })
    },
  }
}
