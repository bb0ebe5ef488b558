import { type Fault, unless } from '../long/fault.ts'
import { clusterFault, median, untilBothWork, untilMore } from './run.ts'
import { TAKEOVER_MS, type TestCluster } from './setup.ts'

/** After PostgreSQL is back, until the first 202. */
const BACK_MS = 2_000

/** PostgreSQL crashes, restarts, or loses a session; every fifth time it is away for longer than the takeover time. */
export const database: Fault = clusterFault({
  name: 'cluster.database',
  needs: [],
  rounds: { long: 30, short: 3 },
  run: async ({ cluster, load, bench, mayComeTwice }) => {
    const backMs: number[] = []
    for (let round = 0; round < bench.rounds; round++) {
      await Bun.sleep(300 + 700 * Math.random())
      mayComeTwice(...cluster.nodes)
      await FAULTS[round % FAULTS.length]!(cluster, round % 5 === 4 ? 1.7 * TAKEOVER_MS : 1_000 * Math.random())
      backMs.push(await untilMore(load, 1))
      await untilBothWork(cluster, load)
    }
    const middle = median(backMs)
    const isRunning = cluster.nodes.every(({ process }) => process!.exitCode === null)
    return {
      figures: `${bench.rounds} crashes and restarts, the first 202 after ${middle.toFixed(0)} ms (median, at most ${Math.max(...backMs).toFixed(0)})`,
      broken: unless(isRunning, 'a node ended'),
      slow: unless(middle <= BACK_MS, `the first 202 comes after ${middle.toFixed(0)} ms`),
    }
  },
})

type DatabaseFault = (cluster: TestCluster, awayMs: number) => Promise<void>

const halt =
  (mode: 'fast' | 'immediate'): DatabaseFault =>
  async ({ servers: [server] }, awayMs) => {
    await server!.halt(mode)
    await Bun.sleep(awayMs)
    await server!.resume()
  }

/** PostgreSQL ends all sessions and recovers when one was killed. */
const killBackend: DatabaseFault = async ({ servers: [server] }) => {
  const pids = server!.backendsOf('postrider mail')
  process.kill(pids[Math.floor(Math.random() * pids.length)]!, 'SIGKILL')
}

const FAULTS: readonly DatabaseFault[] = [halt('immediate'), halt('fast'), killBackend]
