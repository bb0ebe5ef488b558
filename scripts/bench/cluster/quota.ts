import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PERIOD_US = 20_000
const V1 = '/sys/fs/cgroup/cpu'
const V2 = '/sys/fs/cgroup'

/** Limits a process with its threads to a share of a core → what lifts the limit once it has ended; null where the
 *  machine has no control group for it. */
export function limitCpu(pid: number, share: number): (() => void) | null {
  const isV1 = existsSync(join(V1, 'cpu.cfs_quota_us'))
  const group = join(isV1 ? V1 : V2, `postrider-bench-${pid}`)
  const quota = String(Math.round(PERIOD_US * share))
  try {
    mkdirSync(group)
    if (isV1) {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US))
      writeFileSync(join(group, 'cpu.cfs_quota_us'), quota)
    } else writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD_US}`)
    writeFileSync(join(group, 'cgroup.procs'), String(pid))
    return () => rmdirSync(group)
  } catch {
    if (existsSync(group)) rmdirSync(group)
    return null
  }
}
