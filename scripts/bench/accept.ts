import { bodies } from './bodies.ts'
import type { Figure } from './figures.ts'
import type { Part } from './part.ts'
import { load } from './peers.ts'
import { startProgram } from './process.ts'
import { openServer } from './server.ts'

/** How fast mail is accepted: durable before its 202, with delivery a day later. For comparison, the same load on a
 *  server that only stores. */
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
    const reference = await startProgram('reference')
    const bare = { http: String(reference.first.http), key: 'none' }
    await load(bare, 50, 20_000, bodies.held(scratch))
    const binary = { name: 'this', file: '' } as const
    for (const connections of [1, 50] as const) {
      const { perSecond } = await load(bare, connections, messages * 2, bodies.held(scratch))
      note(null, BARE[connections], perSecond)
      note(binary, SHARE[connections], (noted(binary, AT[connections]) ?? Number.NaN) / perSecond)
    }
    await reference.stop()
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
const KEYED: Figure = { what: 'accepted with idempotency keys, as a share of without', goal: { atLeast: 0.8 } }
const BATCH: Figure = { what: 'accepted per second, batches of 500', goal: { atLeast: 20_000 } }
const RESIDENT: Figure = { what: 'memory after accepting', unit: 'MB' }
const BARE: Record<1 | 50, Figure> = {
  1: { what: 'a bare server that only stores the body: accepted per second, 1 connection' },
  50: { what: 'a bare server that only stores the body: accepted per second, 50 connections' },
}
const SHARE: Record<1 | 50, Figure> = {
  1: { what: 'accepted with 1 connection, as a share of the bare server' },
  50: { what: 'accepted with 50 connections, as a share of the bare server' },
}
