import { join } from 'node:path'
import { fileText } from '../../os/file-text.ts'
import { fail, pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps, HeldPort, Installation, Listener } from './deps.ts'

/** Checks that the ports of our listeners are free, or already ours. */
export function checkPorts({ listeners, server }: Installation, { held }: CheckDeps): Verdict {
  const fixed = listeners.filter(({ port }) => port !== 0)
  if (fixed.length === 0) return skip('no listener has a fixed port')
  const taken = fixed.flatMap((listener) => {
    const other = held.find((each) => clashes(each, listener) && server?.ports.includes(each.port) !== true)
    return other === undefined ? [] : [{ listener, other }]
  })
  if (taken.length > 0) {
    const message = taken.map(({ listener, other }) => `port ${listener.port} is in use by ${nameOf(other)}`).join('; ')
    return fail(message, [...new Set(taken.map(({ listener, other }) => adviceFor(listener, other)))].join('\n'))
  }
  const ports = [...new Set(fixed.map(({ port }) => port))].toSorted((a, b) => a - b).join(', ')
  return pass(server === null ? `${ports}: free` : `${ports}: not used by other programs`)
}

/** True if a server without root may listen below 1024. */
export function checkLowPorts({ listeners, server }: Installation, { proc, units }: CheckDeps): Verdict {
  const low = listeners.filter(({ port }) => port > 0 && port < firstOpenPort(proc))
  if (low.length === 0) return skip('not required by any listener')
  const ports = low.map(({ port }) => port).join(', ')
  if (low.every(({ port }) => server?.ports.includes(port))) return pass(`the running server uses ${ports}`)
  if (units.some((file) => fileText(file).includes('AmbientCapabilities=CAP_NET_BIND_SERVICE'))) {
    return pass(`the systemd unit allows ${ports}`)
  }
  if (mayBindLow(proc)) return pass(`this user may listen on ${ports}`)
  return warn(
    `this user may not listen on ${ports}`,
    'The unit that `postrider init` prints grants this permission (CAP_NET_BIND_SERVICE). To start the server manually:\n' +
      '  setcap cap_net_bind_service=+ep /usr/local/bin/postrider',
  )
}

/** Programs that use the ports of mail and web on new machines. */
const KNOWN: Record<string, { what: string; advice: string }> = {
  exim4: {
    what: 'exim4, Debian’s default mail server',
    advice: 'If nothing else needs it: systemctl disable --now exim4',
  },
  master: {
    what: 'master (Postfix)',
    advice: 'If nothing else needs it: systemctl disable --now postfix',
  },
  sendmail: { what: 'sendmail', advice: 'If nothing else needs it: systemctl disable --now sendmail' },
  'sendmail-mta': { what: 'sendmail', advice: 'If nothing else needs it: systemctl disable --now sendmail' },
  smtpd: { what: 'smtpd (OpenSMTPD)', advice: 'If nothing else needs it: systemctl disable --now opensmtpd' },
}

function adviceFor({ key }: Listener, { holder }: HeldPort): string {
  const known = holder === null ? undefined : KNOWN[holder.name]
  if (known !== undefined) return known.advice
  return `Stop it, or change the port or address of ${key} in the config.`
}

function nameOf({ holder }: HeldPort): string {
  if (holder === null) return 'another program (run as root to see which)'
  return `${KNOWN[holder.name]?.what ?? holder.name} (process ${holder.pid})`
}

/** The wildcard address of either family occupies the port for all addresses. */
function clashes(held: HeldPort, { host, port }: Listener): boolean {
  return held.port === port && (held.host === host || isWildcard(held.host) || isWildcard(host))
}

const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'

/** ip(7): from this port on no privilege is needed. */
function firstOpenPort(proc: string): number {
  const text = fileText(join(proc, 'sys/net/ipv4/ip_unprivileged_port_start')).trim()
  return /^\d+$/.test(text) ? Number(text) : 1024
}

/** capabilities(7): CAP_NET_BIND_SERVICE is bit 10. */
function mayBindLow(proc: string): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(fileText(join(proc, 'self/status')))?.[1] ?? '0'
  return ((BigInt(`0x${effective}`) >> 10n) & 1n) === 1n
}
