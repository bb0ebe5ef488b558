import { until } from '../../support/patience.ts'
import { type Fault, unless } from '../long/fault.ts'
import { exitOf } from '../setup.ts'
import { onTheWireOf } from './books.ts'
import { clusterFault, median, untilBothWork } from './run.ts'
import { type ClusterNode, TAKEOVER_MS, type TestCluster } from './setup.ts'

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
      await node.kill()
      const killedAt = performance.now()
      await Bun.sleep(SETTLE_MS)
      mayComeTwice(node)
      const { mails } = onTheWireOf(cluster, [node.name])
      if (round % 2 === 0 && mails.size > 0) takeoverMs.push(await untilTakenOver(cluster, mails, killedAt))
      await node.serve()
      await untilBothWork(cluster, load)
    }
    if (takeoverMs.length === 0)
      return { figures: `${bench.rounds} kills, none of them with mail under way`, broken: [] }
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
      node.process!.kill('SIGSTOP')
      cluster.sink.freeze(node.source)
      const stoppedAt = performance.now()
      await Bun.sleep(SETTLE_MS)
      cluster.sink.thaw(node.source)
      mayComeTwice(node)
      const { mails } = onTheWireOf(cluster, [node.name])
      await until('the other node to end it', () => cluster.sql(isLive(node))[0]![0] === '0')
      await untilTakenOver(cluster, mails, stoppedAt)
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

const isLive = ({ name }: ClusterNode) => `select count(*) from nodes where name = '${name}' and ended_at is null`

/** What a node had under way comes again from the other one → after how many ms since the fault. */
async function untilTakenOver({ sink }: TestCluster, tokens: ReadonlySet<string>, faultAt: number): Promise<number> {
  const againAt = (token: string) => sink.times.get(token)?.find((at) => at > faultAt + SETTLE_MS)
  await until('the takeover', () => [...tokens].every((token) => againAt(token) !== undefined))
  return Math.max(...[...tokens].map((token) => againAt(token)!)) - faultAt
}
