import { until } from '../../support/patience.ts'
import { startPostgres, startStandby, type TestPostgres } from '../../support/postgres.ts'
import { type Fault, unless } from '../long/fault.ts'
import { clusterFault, median, untilBothWork, untilMore } from './run.ts'
import type { TestCluster } from './setup.ts'

/** After the promotion, until the first 202. */
const BACK_MS = 2_000

/** The primary crashes, and its synchronous standby is promoted. The URL of the nodes names both. */
export const failover: Fault = clusterFault({
  name: 'cluster.failover',
  needs: [],
  rounds: { long: 10, short: 1 },
  servers: async (options) => {
    const primary = await startPostgres(options)
    const standby = await startStandby(primary, options)
    await untilSynchronous(primary)
    return [primary, standby]
  },
  run: async ({ cluster, load, bench, mayComeTwice }) => {
    const backMs: number[] = []
    for (let round = 0; round < bench.rounds; round++) {
      await Bun.sleep(300 + 700 * Math.random())
      const [primary, standby] = inOrder(cluster, round)
      mayComeTwice(...cluster.nodes)
      await primary.halt('immediate')
      standby.psql('select pg_promote()')
      backMs.push(await untilMore(load, 1))
      await untilBothWork(cluster, load)
      await primary.resumeAsStandby(standby)
      await untilSynchronous(standby)
      await untilMore(load)
    }
    const middle = median(backMs)
    const isRunning = cluster.nodes.every(({ process }) => process!.exitCode === null)
    return {
      figures: `${bench.rounds} promotions, the first 202 after ${middle.toFixed(0)} ms (median, at most ${Math.max(...backMs).toFixed(0)})`,
      broken: unless(isRunning, 'a node ended'),
      slow: unless(middle <= BACK_MS, `the first 202 comes after ${middle.toFixed(0)} ms`),
    }
  },
})

/** Primary and standby of a round: they change places. */
function inOrder({ servers }: TestCluster, round: number): [TestPostgres, TestPostgres] {
  const [one, other] = servers as [TestPostgres, TestPostgres]
  return round % 2 === 0 ? [one, other] : [other, one]
}

/** The primary waits for its standby from now on. Its data was copied before that, so the copy does not wait for one. */
async function untilSynchronous(primary: TestPostgres): Promise<void> {
  primary.psql(`alter system set synchronous_standby_names = '*'`)
  primary.psql('select pg_reload_conf()')
  const isSynchronous = `select count(*) from pg_stat_replication where sync_state = 'sync'`
  await until('the standby', () => primary.psql(isSynchronous) === '1')
}
