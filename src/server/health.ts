import type { Config } from '../config/load.ts'
import { createHealthWatch, type HealthWatch } from '../operating/health/watch.ts'
import type { Store } from '../storage/store.ts'
import type { Base } from './base.ts'

/** The health checks of the running server. */
export function watchHealth(config: Config, { clock, random, log }: Base, store: Store): HealthWatch {
  return createHealthWatch({
    run: async () => {
      // Imported on first use, so that the start does not wait for it.
      const { runCheckup } = await import('../operating/checkup/run.ts')
      const server = { pid: process.pid, ports: [] }
      return (await runCheckup(config, { clock, random, store, held: null, server })).checks
    },
    now: clock.now,
    log,
  })
}
