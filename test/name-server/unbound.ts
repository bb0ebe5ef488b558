import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/patience.ts'

/** Private instances of Unbound on loopback addresses of their own, because a delegation works with port 53 only. */

export interface Unbound {
  stop(): Promise<void>
}

/** Zone name (`.` for the root) → the lines of its zone file behind SOA and NS. The root delegates the other
 *  zones; for zones that the lines delegate it answers with referrals. */
export function startAuthority(at: string, zones: Record<string, string[]>): Promise<Unbound> {
  const files = Object.entries(zones).map(([zone, lines], number) => {
    const dot = zone === '.' ? '.' : `${zone}.`
    const own = [
      `${dot} 60 IN SOA ns.authority.example. root.authority.example. 1 60 60 60 1`,
      `${dot} 60 IN NS ns.authority.example.`,
    ]
    const below = Object.keys(zones).filter((each) => zone === '.' && each !== zone)
    const delegated = below.map((each) => `${each}. 60 IN NS ns.authority.example.`)
    return { name: `zone${number}`, text: `$TTL 60\n${[...own, ...delegated, ...lines].join('\n')}\n`, zone }
  })
  const config = files
    .map(
      ({ name, zone }) =>
        `auth-zone:\n name: "${zone}"\n zonefile: "${name}"\n for-downstream: yes\n for-upstream: no\n`,
    )
    .join('')
  return start(at, '', config, files)
}

/** A resolver that walks down from the authority as its root. It forgets after a second. */
export function startRecursive(at: string, root: string): Promise<Unbound> {
  const hints = { name: 'hints', text: `. 60 IN NS ns.authority.example.\nns.authority.example. 60 IN A ${root}\n` }
  const options = ` root-hints: "hints"\n qname-minimisation-strict: yes\n cache-max-ttl: 1\n cache-max-negative-ttl: 1\n`
  return start(at, options, '', [hints])
}

async function start(
  at: string,
  options: string,
  zones: string,
  files: { name: string; text: string }[],
): Promise<Unbound> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-unbound-'))
  for (const { name, text } of files) writeFileSync(join(folder, name), text)
  const config = `server:
 directory: "${folder}"\n chroot: ""\n username: ""\n pidfile: ""\n use-syslog: no\n logfile: "log"\n verbosity: 1
 interface: ${at}\n outgoing-interface: ${at}\n access-control: 127.0.0.0/8 allow\n do-not-query-localhost: no
 do-daemonize: no\n num-threads: 1\n do-ip6: no\n module-config: "iterator"\n${options}remote-control:\n control-enable: no\n${zones}`
  writeFileSync(join(folder, 'unbound.conf'), config)
  const child = Bun.spawn(['unbound', '-d', '-c', join(folder, 'unbound.conf')], { stdout: 'ignore', stderr: 'pipe' })
  await until('Unbound to run', async () => {
    const file = join(folder, 'log')
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    if (child.exitCode !== null) throw new Error(`Unbound ended: ${text}${await new Response(child.stderr).text()}`)
    return text.includes('start of service')
  })
  return {
    stop: async () => {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
