import { until } from '../../support/patience.ts'
import { type Bench, type Fault, unless, type Verdict } from '../long/fault.ts'
import { exitOf } from '../setup.ts'
import { audit, type OnTheWire, onTheWireOf, untilSettled } from './books.ts'
import { type Load, startLoad } from './load.ts'
import { type ClusterNode, makeTestCluster, type TestCluster } from './setup.ts'

/** A fault of the cluster under load. */
export interface ClusterRound {
  cluster: TestCluster
  load: Load
  bench: Bench
  /** Notes what these nodes have under way: it may come twice. */
  mayComeTwice(...nodes: readonly ClusterNode[]): void
}

const CLIENTS = 8
const PAUSE_MS = 20

/** Runs `run` on a cluster under load, then waits until everything has settled, and audits it. `run` returns further
 *  figures and broken promises, and leaves both nodes running. */
export function clusterFault(
  options: Omit<Fault, 'run'> &
    Omit<Parameters<typeof makeTestCluster>[0], 'program'> & {
      run: (round: ClusterRound) => Promise<Verdict>
    },
): Fault {
  const { name, needs, rounds, run, ...how } = options
  return {
    name,
    needs: ['postgres', ...needs],
    rounds,
    run: async (bench) => {
      const cluster = await makeTestCluster({ program: bench.program, ...how })
      const wires: OnTheWire[] = []
      const load = startLoad(cluster, { run: name, clients: CLIENTS, pauseMs: PAUSE_MS, gullible: bench.isPlanted })
      try {
        await untilBothWork(cluster, load)
        const found = await run({
          cluster,
          load,
          bench,
          mayComeTwice: (...nodes) =>
            wires.push(
              onTheWireOf(
                cluster,
                nodes.map((node) => node.name),
              ),
            ),
        })
        await load.stop()
        await untilSettled(cluster, load)
        const codes = await Promise.all(
          cluster.nodes.map(async (node) => {
            node.process!.kill('SIGTERM')
            return exitOf(node.process!)
          }),
        )
        const audited = audit(cluster, load, wires)
        const isStopped = codes.every((code) => code === 0)
        const broken = [...found.broken, ...audited.broken, ...unless(isStopped, `SIGTERM ends with ${codes}`)]
        if (broken.length > 0) for (const node of cluster.nodes) bench.note(stateOf(node))
        return { ...found, figures: `${found.figures}; ${audited.figures}`, broken }
      } catch (error) {
        for (const node of cluster.nodes) bench.note(stateOf(node))
        throw error
      } finally {
        await cluster.close()
      }
    },
  }
}

/** Both nodes run, and the load goes on. */
export async function untilBothWork({ sql }: TestCluster, load: Load): Promise<void> {
  const running = `select count(*) from nodes
    where handles_mail and ended_at is null and seen_at > clock_timestamp() - interval '1 second'`
  const areRunning = () => {
    try {
      return sql(running)[0]![0] === '2'
    } catch {
      return false // PostgreSQL is starting
    }
  }
  await until('both nodes to run', areRunning)
  await untilMore(load)
}

const stateOf = ({ name, process, log }: ClusterNode) =>
  `${name} with exit code ${process?.exitCode} and signal ${process?.signalCode}: ${lastLines(log())}`

/** More messages are promised → after how many ms. */
export async function untilMore({ promised }: Load, count = 20): Promise<number> {
  const [before, beganAt] = [promised.size, performance.now()]
  await until('further promises', () => promised.size >= before + count)
  return performance.now() - beganAt
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** The errors that a node logged, or else its last lines. */
function lastLines(log: string): string {
  const lines = log.trim().split('\n')
  const errors = lines.filter((line) => line.includes('"level":"error"'))
  return (errors.length > 0 ? errors.slice(0, 3) : lines.slice(-3)).join(' / ')
}
