import type { WallClock } from '../os/clock.ts'
import type { Log } from '../os/log.ts'
import { createLoop, type Loop } from '../os/loop.ts'

/** Periodic work that no request waits for. */
export interface Task {
  name: string
  everyMs: number
  /** The first turn comes so long after the start, or after `everyMs` where it is not said: a rare task must have its turn
   *  also on a server that restarts often. */
  firstMs?: number
  /** It removes what is old. Its time is then the wall's or the steady one, whichever is earlier: a clock set wrong must
   *  not make everything old at once. */
  erases?: true
  /** True: there is more of it, come back at once. A number: come back after so many ms. */
  run: (now: number) => Promise<boolean | number>
}

/** Tasks → a loop that runs each when its time has come, one after another. A task that fails is logged and tried
 *  again at its next turn; it stops none of the others. Missed turns are not made up for. */
export function createMaintenance(options: { clock: WallClock; tasks: Task[]; log: Log }): Loop {
  const { clock, tasks, log } = options
  const { steady } = clock
  const dueAt = new Map(tasks.map((task) => [task, steady.now() + (task.firstMs ?? task.everyMs)]))

  const turn = async (task: Task): Promise<void> => {
    const more = await task.run(task.erases ? Math.min(clock.now(), steady.now()) : clock.now()).catch((error) => {
      log.error('maintenance task failed', { task: task.name, error })
      return false
    })
    const waitMs = more === true ? 0 : more === false ? task.everyMs : more
    dueAt.set(task, steady.now() + waitMs)
  }

  return createLoop({
    clock: steady,
    idleMs: Math.min(...tasks.map((task) => task.everyMs)),
    tick: async () => {
      for (const task of tasks) if (dueAt.get(task)! <= steady.now()) await turn(task)
      return Math.min(...dueAt.values())
    },
    onError: (error) => log.error('maintenance run failed', { error }),
  })
}
