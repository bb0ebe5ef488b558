import { pass, skip, type Verdict, warn } from './check.ts'

/** Isolation of inbound parsing, as reported by a reader that was started for this check. */
export interface ReaderSeparation {
  /** `confined`: a process with system call filter and Landlock; `filtered`: without Landlock; `process`: without
   *  the filter; `thread`: no process could be started. */
  kind: 'confined' | 'filtered' | 'process' | 'thread'
  /** Version in force; 0 = none. */
  landlock: number
  /** Why it is only a thread. */
  why: string | null
  /** Forbidden actions that succeeded. */
  broken: readonly string[]
}

/** Checks that inbound mail is parsed in isolation. */
export async function checkSeparation(takesMail: boolean, probe: () => Promise<ReaderSeparation>): Promise<Verdict> {
  if (!takesMail) return skip('smtp.inbound.listen is off')
  const { kind, landlock, why, broken } = await probe()
  if (broken.length > 0) {
    return warn(`a reader process for inbound mail could ${broken.join(', ')}`, 'Report this as a bug.')
  }
  switch (kind) {
    case 'confined':
      return pass(`sandboxed process: system call filter, Landlock ${landlock}; self-test passed`)
    case 'filtered':
      return warn(
        'process without Landlock: inbound mail is parsed with a system call filter only',
        'Use kernel 5.13 or later with Landlock enabled (lsm=landlock,…).',
      )
    case 'process':
      return warn(
        'process without a system call filter: inbound mail is parsed in a separate process with all permissions of the server',
        'Use a kernel with CONFIG_SECCOMP_FILTER, and allow seccomp(2) for the service.',
      )
    case 'thread':
      return warn(
        `thread: inbound mail is parsed inside the server process${why === null ? '' : ` (${why})`}`,
        'Allow the service to start processes. Check the unit, its limits and its system call filter.',
      )
  }
}
