import { PATIENCE_MS, restingAfter, until } from '../../support/patience.ts'
import { type Fault, unless } from '../long/fault.ts'
import { exitOf } from '../setup.ts'
import type { Passing } from './proxy.ts'
import { clusterFault, untilBothWork } from './run.ts'
import { TAKEOVER_MS } from './setup.ts'

const SETTLE_MS = 100
const SHORT_MS = 0.6 * TAKEOVER_MS
const LONG_MS = 2 * TAKEOVER_MS
const REPLACED = 4
/** The connection that writes mail (storage/postgres/open.ts). */
const MAIL = 'postrider mail'

const CUTS: { passing: Passing; ms: number }[] = [
  { passing: 'none', ms: LONG_MS },
  { passing: 'none', ms: SHORT_MS },
  { passing: 'to server', ms: LONG_MS },
  { passing: 'to client', ms: LONG_MS },
]

/** The network between one node and PostgreSQL is silent, both ways or one way. */
export const network: Fault = clusterFault({
  name: 'cluster.network',
  needs: [],
  rounds: { long: 20, short: 2 },
  run: async ({ cluster, load, bench, mayComeTwice }) => {
    const broken: string[] = []
    let replaced = 0
    for (let round = 0; round < bench.rounds; round++) {
      const { passing, ms } = CUTS[round % CUTS.length]!
      const node = cluster.nodes[(round >> 2) % 2]!
      const { process } = node
      for (const proxy of node.proxies) proxy.pass(passing)
      const cutAt = performance.now()
      await Bun.sleep(SETTLE_MS)
      const restMs = () => Math.max(0, cutAt + ms - performance.now())
      // It claims nothing more, and finishes what it has. A short cut is noted once: its queries would make it longer.
      if (ms < TAKEOVER_MS) mayComeTwice(node)
      else while (restMs() > 0) await restingAfter(() => mayComeTwice(node))
      await Bun.sleep(restMs())
      if (ms > TAKEOVER_MS) {
        const isLive = `select count(*) from nodes where name = '${node.name}' and ended_at is null`
        await until('the other node to end it', () => {
          mayComeTwice(node)
          return cluster.sql(isLive)[0]![0] === '0'
        })
      }
      cluster.sink.freeze(node.source)
      for (const proxy of node.proxies) proxy.pass('both')
      cluster.sink.thaw(node.source)
      if (ms > TAKEOVER_MS) {
        const code = await Promise.race([exitOf(process!), Bun.sleep(PATIENCE_MS).then(() => 'still running')])
        if (code === REPLACED) replaced++
        else broken.push(`cut off (${passing}) for ${ms} ms it is ${code}`)
        if (code === 'still running') await node.kill()
        await node.serve()
      }
      await untilBothWork(cluster, load)
    }
    return { figures: `${bench.rounds} cuts, ${replaced} times replaced`, broken }
  },
})

/** The answers to one node's groups of mail are cut at every byte. */
export const bytes: Fault = clusterFault({
  name: 'cluster.bytes',
  needs: [],
  rounds: { long: 600, short: 20 },
  run: async ({ cluster, load, bench }) => {
    const { proxies } = cluster.nodes[0]
    const length = proxies[0]!.lastAnswerBytes(MAIL)
    const isEvery = bench.rounds >= length
    for (let round = 0; round < bench.rounds; round++) {
      const at = isEvery ? round : Math.floor(length * Math.random())
      await proxies[0]!.cutAnswer(MAIL, at)
    }
    await untilBothWork(cluster, load)
    return {
      figures: `${bench.rounds} answers cut, of ${length} bytes`,
      broken: unless(cluster.nodes[0].process!.exitCode === null, 'the node ended'),
    }
  },
})
