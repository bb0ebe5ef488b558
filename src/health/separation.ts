import { pass, skip, type Verdict, warn } from './check.ts'

/** How inbound mail is read, as a reader that was started for this found itself. */
export interface ReaderSeparation {
  /** `confined`: a process under a system call filter and Landlock; `filtered`: without Landlock; `process`: without the
   *  filter; `thread`: no process could be had. */
  kind: 'confined' | 'filtered' | 'process' | 'thread'
  /** Version in force; 0 = none. */
  landlock: number
  /** Why it is a thread. */
  why: string | null
  /** What it could do though it must not. */
  broken: readonly string[]
}

/** Inbound mail is read where it can do no harm. */
export async function checkSeparation(takesMail: boolean, probe: () => Promise<ReaderSeparation>): Promise<Verdict> {
  if (!takesMail) return skip('smtp.inbound.listen is off')
  const { kind, landlock, why, broken } = await probe()
  if (broken.length > 0) {
    return warn(`a reader of inbound mail could ${broken.join(', ')}`, 'Report it as a fault of this program.')
  }
  switch (kind) {
    case 'confined':
      return pass(`confined process: system call filter, Landlock ${landlock}; the self test broke out nowhere`)
    case 'filtered':
      return warn(
        'process without Landlock: inbound mail is read under a system call filter alone',
        'Use a kernel of version 5.13 or later with Landlock on (lsm=landlock,…).',
      )
    case 'process':
      return warn(
        'process without a system call filter: inbound mail is read in a process of its own, which may do all that the server may',
        'Use a kernel with CONFIG_SECCOMP_FILTER, and allow seccomp(2) to the service.',
      )
    case 'thread':
      return warn(
        `thread: inbound mail is read inside the server${why === null ? '' : ` (${why})`}`,
        'Let the service start processes: look at the unit, its limits and its system call filter.',
      )
  }
}
