import { readFileSync } from 'node:fs'

const TICKS_A_SECOND = 100

/** User and system time of a process. proc_pid_stat(5) */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

/** Its current resident memory. proc_pid_status(5) */
export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1000
}

/** Its largest resident memory so far. proc_pid_status(5) */
export function peakMb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1000
}
