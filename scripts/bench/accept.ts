import { bodies } from './bodies.ts'
import type { Figure } from './figures.ts'
import type { Part } from './part.ts'
import { load } from './peers.ts'
import { startProgram } from './process.ts'
import { openServer } from './server.ts'

/** How fast mail is accepted: durable before its 202, with delivery a day later. For comparison, the same load on a
 *  server that only stores the body, and on one that only parses, packs and writes the rows. */
export const accept: Part = {
  name: 'accept',

  measure: async ({ scratch, messages, note, noted }, binary) => {
    const server = await openServer(binary.file, { scratch })
    const held = bodies.held(scratch)
    await load(server, 50, 20_000, held) // until the runtime has compiled the hot code
    for (const connections of [1, 10, 50] as const) {
      const result = await load(server, connections, connections === 1 ? messages / 2 : messages * 2, held)
      note(binary, AT[connections], result.perSecond)
      note(binary, P99[connections], result.p99Ms)
    }
    const keyed = await load(server, 50, messages * 2, held, 'idempotent')
    note(binary, KEYED, keyed.perSecond / noted(binary, AT[50])!)
    const batches = await load(server, 4, 40, bodies.batch(scratch))
    note(binary, BATCH, batches.perSecond * 500)
    note(binary, RESIDENT, server.residentMb())
    await server.stop()
  },

  beside: async ({ scratch, messages, note, noted }) => {
    const held = bodies.held(scratch)
    const binary = { name: 'this', file: '' } as const
    for (const [name, rate, share] of REFERENCES) {
      const program = await startProgram(name)
      const server = { http: String(program.first.http), key: 'none' }
      await load(server, 50, 20_000, held)
      for (const connections of [1, 50] as const) {
        const { perSecond } = await load(server, connections, messages * 2, held)
        note(null, rate[connections], perSecond)
        note(binary, share[connections], (noted(binary, AT[connections]) ?? Number.NaN) / perSecond)
      }
      await program.stop()
    }
  },
}

const AT: Record<1 | 10 | 50, Figure> = {
  1: { what: 'accepted per second, 1 connection', goal: { atLeast: 2_200 } },
  10: { what: 'accepted per second, 10 connections' },
  50: { what: 'accepted per second, 50 connections', goal: { atLeast: 10_000 } },
}
const P99: Record<1 | 10 | 50, Figure> = {
  1: { what: 'p99 of accepting, 1 connection', unit: 'ms' },
  10: { what: 'p99 of accepting, 10 connections', unit: 'ms' },
  50: { what: 'p99 of accepting, 50 connections', unit: 'ms', goal: { atMost: 15 } },
}
const KEYED: Figure = { what: 'accepted with idempotency keys, as a share of without', goal: { atLeast: 0.88 } }
const BATCH: Figure = { what: 'accepted per second, batches of 500', goal: { atLeast: 20_000 } }
const RESIDENT: Figure = { what: 'memory after accepting', unit: 'MB' }

/** A server for comparison → its rate, and Postrider's rate as a share of that with its goals. */
function reference(what: string, goals: { 1?: number; 50?: number } = {}) {
  const rate = (connections: string): Figure => ({ what: `${what}: accepted per second, ${connections}` })
  const share = (connections: string, atLeast: number | undefined): Figure => ({
    what: `accepted with ${connections}, as a share of ${what}`,
    ...(atLeast === undefined ? {} : { goal: { atLeast } }),
  })
  return [
    { 1: rate('1 connection'), 50: rate('50 connections') },
    { 1: share('1 connection', goals[1]), 50: share('50 connections', goals[50]) },
  ] as const
}

const REFERENCES = [
  ['reference', ...reference('a bare server that only stores the body', { 1: 0.7, 50: 0.8 })],
  ['rows', ...reference('a server that only parses, packs and writes the rows')],
] as const
