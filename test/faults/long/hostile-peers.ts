import type { ZoneRecord } from '../../../src/cli/try/zone-server.ts'
import { type Move, startRawMx } from '../../support/remote-mx.ts'

/** Hostile mail servers, each with a separate address; the name is the top-level domain of its destinations. */
const MANNERS: Record<string, (cue: string, line: string, connection: number) => Move | null> = {
  ...each('hangs', ['CONNECT', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'DOT'], { do: 'hang' }),
  ...each('resets', ['CONNECT', 'EHLO', 'MAIL', 'DATA', 'DOT'], { do: 'reset' }),
  ...each('says421', ['CONNECT', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'DOT'], {
    do: 'say_and_drop',
    text: '421 4.3.2 Go\r\n',
  }),
  ...each('drips', ['CONNECT', 'EHLO', 'RCPT', 'DOT'], { do: 'drip', line: '250-', everyMs: 100 }),
  ...each('floods', ['CONNECT', 'EHLO', 'RCPT', 'DOT'], `250-${'x'.repeat(100_000)}\r\n250 ok`),
  ...each('chatters', ['EHLO', 'RCPT'], `${'250-more\r\n'.repeat(10_000)}250 ok`),
  tlsgarbage: (cue) =>
    cue === 'STARTTLS' ? { do: 'say_and_drop', text: '220 go\r\n\x16\x03\x03garbage' } : inClear(cue),
  tlshangs: (cue) => (cue === 'STARTTLS' ? '220 go' : inClear(cue)),
}

/** Their DNS records: an address and no MX. */
export const HOSTILE_ZONE: ZoneRecord[] = Object.keys(MANNERS).map((manner) => ({
  name: `*.${manner}`,
  type: 'A',
  data: addressOf(manner),
}))

/** That many addresses, spread evenly over the behaviours; of each, half at one destination and half at a separate
 *  one each. */
export function hostileAddresses(count: number): string[] {
  const manners = Object.keys(MANNERS)
  return Array.from({ length: count }, (_, at) => {
    const round = Math.floor(at / manners.length)
    return `r${at}@${round % 2 === 0 ? 'same' : `d${round}`}.${manners[at % manners.length]}`
  })
}

export const isHostile = (destination: string) => destination.slice(destination.lastIndexOf('.') + 1) in MANNERS

/** In a separate thread, all at the same port. Resolves when they listen; returns a function that ends them. */
export async function startHostilePeers(port: number): Promise<() => void> {
  const worker = new Worker(import.meta.url)
  const listening = new Promise((resolve) => worker.addEventListener('message', resolve, { once: true }))
  worker.postMessage(port)
  await listening
  return () => worker.terminate()
}

/** A peer that does this at each of these cues; a connection then gets nothing more. */
function each(name: string, cues: readonly string[], move: Move): typeof MANNERS {
  const scriptFor = (at: string) => {
    const done = new Set<number>()
    return (cue: string, _line: string, connection: number): Move | null => {
      if (done.has(connection)) return { do: 'hang' }
      if (cue !== at) return null
      done.add(connection)
      return move
    }
  }
  return Object.fromEntries(cues.map((at) => [`${name}${at.toLowerCase()}`, scriptFor(at)]))
}

function inClear(cue: string): Move | null {
  return cue === 'RCPT' ? '451 4.3.0 Not now' : null
}

function addressOf(manner: string): string {
  return `127.0.1.${Object.keys(MANNERS).indexOf(manner) + 1}`
}

declare const self: Worker

async function listen(port: number): Promise<void> {
  for (const [manner, script] of Object.entries(MANNERS)) {
    const extensions = ['PIPELINING', '8BITMIME', ...(manner.startsWith('tls') ? ['STARTTLS'] : [])]
    await startRawMx({ script, extensions, host: addressOf(manner), port })
  }
  self.postMessage('listening')
}

if (!Bun.isMainThread) self.onmessage = ({ data: port }: MessageEvent<number>) => void listen(port)
