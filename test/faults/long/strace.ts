import { spawnSync } from 'node:child_process'

/** strace(1) as a prefix of a command line, as a grandchild, so that the started process is the program itself.
 *  `what` as in its manual, with `when` counted in each thread. (--seccomp-bpf would be faster, but injects
 *  nothing.) */
export function inject(call: string, what: string, log: string): string[] {
  return ['strace', '-D', '-f', '-qq', '-o', log, '-e', `trace=${call}`, '-e', `inject=${call}:${what}`]
}

/** The same, recording `calls` in one order over all threads. */
export function record(calls: string, log: string): string[] {
  return ['strace', '-D', '-f', '-qq', '-y', '-xx', '-s', '200000', '--seccomp-bpf', '-o', log, '-e', `trace=${calls}`]
}

export const hasStrace = () => spawnSync('strace', ['-D', '-f', '-qq', 'true']).status === 0
