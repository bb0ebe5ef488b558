import type { WallClock } from '../../os/clock.ts'
import type { Log } from '../../os/log.ts'
import { createLoop, type Loop } from '../../os/loop.ts'

/** Periodic work that no request waits for. */
export interface Task {
  name: string
  /** The task belongs to this node, or to the whole installation: then the leader runs it. */
  of: 'node' | 'installation'
  everyMs: number
  /** Time of the first run after the start; `everyMs` by default. A rare task must also run on a server that
   *  restarts often. */
  firstMs?: number
  /** The task removes old data. It gets the earlier of wall clock and steady clock, so that a wrong clock does not
   *  make everything old at once. */
  erases?: true
  /** Returns true if there is more work now, or the ms until it should run again; otherwise it runs after `everyMs`. */
  run: (now: number) => Promise<boolean | number> | Promise<void>
}

/** Tasks → a loop that runs each when it is due, one after another. A task that fails is logged and retried at its
 *  next run, and stops no other. Missed runs are skipped. `leads`: true while this process runs the tasks of the
 *  installation; until then they stay due. */
export function createMaintenance(options: { clock: WallClock; tasks: Task[]; log: Log; leads: () => boolean }): Loop {
  const { clock, tasks, log, leads } = options
  const { steady } = clock
  const dueAt = new Map(tasks.map((task) => [task, steady.now() + (task.firstMs ?? task.everyMs)]))

  const turn = async (task: Task): Promise<void> => {
    const more = await task.run(task.erases ? Math.min(clock.now(), steady.now()) : clock.now()).catch((error) => {
      log.error('maintenance task failed', { task: task.name, error })
      return false
    })
    const waitMs = more === true ? 0 : typeof more === 'number' ? more : task.everyMs
    dueAt.set(task, steady.now() + waitMs)
  }

  return createLoop({
    clock: steady,
    idleMs: Math.min(...tasks.map((task) => task.everyMs)),
    tick: async () => {
      const isOurs = (task: Task) => task.of === 'node' || leads()
      for (const task of tasks) if (dueAt.get(task)! <= steady.now() && isOurs(task)) await turn(task)
      return Math.min(...tasks.filter(isOurs).map((task) => dueAt.get(task)!))
    },
    onError: (error) => log.error('maintenance run failed', { error }),
  })
}
