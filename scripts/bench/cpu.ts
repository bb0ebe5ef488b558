import { readdirSync, readFileSync } from 'node:fs'

/** CPU time in ms: of all threads of a process and of its children, and of the main thread alone. */
export interface Cpu {
  all: number
  main: number
}

/** Starts to count the CPU time of a process → a function that returns the time since. It leaves out threads and children
 *  that have ended meanwhile. From `schedstat`, in nanoseconds: the ticks of `stat` are too coarse for a short phase. */
export function countCpu(pid: number): () => Cpu {
  const before = new Map(threadsOf(pid))
  return () => {
    const since = threadsOf(pid).map(([thread, ms]) => [thread, ms - (before.get(thread) ?? 0)] as const)
    return {
      all: since.reduce((sum, [, ms]) => sum + ms, 0),
      main: since.find(([thread]) => thread === String(pid))?.[1] ?? 0,
    }
  }
}

/** Waits until the process uses less than a tenth of a core, so that work after a load counts for that load. */
export async function settled(pid: number): Promise<void> {
  for (let times = 0; times < 20; times++) {
    const cpu = countCpu(pid)
    await new Promise((resolve) => setTimeout(resolve, 40))
    if (cpu().all < 4) return
  }
}

/** The ID and CPU time of each thread of a process and of its children. */
function threadsOf(pid: number): [string, number][] {
  return tasksOf(pid).flatMap((task) => {
    const folder = `/proc/${pid}/task/${task}`
    const ms = Number(readIfThere(`${folder}/schedstat`).split(' ')[0]) / 1e6
    const children = readIfThere(`${folder}/children`).split(' ').filter(Boolean).map(Number)
    return [[task, ms] as [string, number], ...children.flatMap(threadsOf)]
  })
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return [] // it ended meanwhile
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
