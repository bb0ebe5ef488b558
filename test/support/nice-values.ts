import { readdirSync, readFileSync } from 'node:fs'

/** Nice values of the threads of this process. proc_pid_stat(5) */
export function niceValues(): number[] {
  return readdirSync('/proc/self/task').flatMap((id) => {
    try {
      return [Number(readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')[1]!.split(' ')[16])]
    } catch {
      return [] // it has ended
    }
  })
}
