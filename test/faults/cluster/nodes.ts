import { slotOf } from '../../../src/storage/slots.ts'
import { until } from '../../support/patience.ts'
import { type Fault, unless } from '../long/fault.ts'
import { exitOf } from '../setup.ts'
import { clusterFault, median, untilBothWork } from './run.ts'
import { type ClusterNode, DESTINATIONS, domainOf, TAKEOVER_MS, type TestCluster } from './setup.ts'

/** Transactions that reached PostgreSQL before the kill are decided, and the sink has read what was in flight. */
const SETTLE_MS = 100
/** Beyond the takeover time, until the mail of an ended node goes on. */
const BEYOND_MS = 1_000
const REPLACED = 4

/** kill -9 of a node. Every second time it starts again at once, before the other takes over. */
export const nodes: Fault = clusterFault({
  name: 'cluster.nodes',
  needs: [],
  rounds: { long: 100, short: 2 },
  run: async ({ cluster, load, bench, mayComeTwice }) => {
    const takeoverMs: number[] = []
    for (let round = 0; round < bench.rounds; round++) {
      const node = cluster.nodes[(round >> 1) % 2]!
      await Bun.sleep(300 + 700 * Math.random())
      const owned = destinationsOf(cluster, node)
      await node.kill()
      const killedAt = performance.now()
      await Bun.sleep(SETTLE_MS)
      mayComeTwice(node)
      if (round % 2 === 0) takeoverMs.push(await untilTakenOver(cluster, owned, killedAt))
      await node.serve()
      await untilBothWork(cluster, load)
    }
    const middle = median(takeoverMs)
    return {
      figures: `${bench.rounds} kills, its mail goes on after ${middle.toFixed(0)} ms (median, at most ${Math.max(...takeoverMs).toFixed(0)}), takeover ${TAKEOVER_MS}`,
      broken: [],
      slow: unless(middle <= TAKEOVER_MS + BEYOND_MS, `the takeover takes ${middle.toFixed(0)} ms`),
    }
  },
})

/** A node that stands still for longer than the takeover time, and continues. */
export const frozen: Fault = clusterFault({
  name: 'cluster.frozen',
  needs: [],
  rounds: { long: 10, short: 1 },
  run: async ({ cluster, load, bench, mayComeTwice }) => {
    const codes: (number | null)[] = []
    for (let round = 0; round < bench.rounds; round++) {
      const node = cluster.nodes[round % 2]!
      const owned = destinationsOf(cluster, node)
      node.process!.kill('SIGSTOP')
      cluster.sink.freeze(node.source)
      const stoppedAt = performance.now()
      await Bun.sleep(SETTLE_MS)
      cluster.sink.thaw(node.source)
      mayComeTwice(node)
      await untilTakenOver(cluster, owned, stoppedAt)
      await Bun.sleep(1_000)
      node.process!.kill('SIGCONT')
      codes.push(await exitOf(node.process!))
      await node.serve()
      await untilBothWork(cluster, load)
    }
    const isReplaced = codes.every((code) => code === REPLACED)
    return {
      figures: `${bench.rounds} times frozen, exit code ${codes[0]}`,
      broken: unless(isReplaced, `it ends with exit codes ${codes}`),
    }
  },
})

/** The destinations that a node handles. */
export function destinationsOf({ sql }: TestCluster, { name }: ClusterNode): number[] {
  const statement = `select slot from slots s join nodes n on n.id = s.node_id where n.name = '${name}' and n.ended_at is null`
  const slots = new Set(sql(statement).map(([slot]) => Number(slot)))
  return Array.from({ length: DESTINATIONS }, (_, n) => n).filter((n) => slots.has(slotOf(domainOf(n))))
}

/** Mail comes to each of the destinations again → after how many ms since the fault. */
async function untilTakenOver({ sink }: TestCluster, destinations: number[], faultAt: number): Promise<number> {
  const firstAt = (n: number) => {
    const times = sink.cameTo.get(`127.0.7.${n + 1}`) ?? []
    return times[times.findLastIndex((at) => at <= faultAt + SETTLE_MS) + 1]
  }
  await until('the takeover', () => destinations.every((n) => firstAt(n) !== undefined))
  return Math.max(...destinations.map((n) => firstAt(n)!)) - faultAt
}
