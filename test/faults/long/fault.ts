/** One kind of fault that is made, and what is promised under it. */
export interface Fault {
  /** For `--only`. */
  name: string
  /** What the machine must have for it. */
  needs: readonly Need[]
  /** How often, in the long and in the short run; each fault counts in its own coin. 0: not at all. */
  rounds: { long: number; short: number }
  run(bench: Bench): Promise<Verdict>
}

export type Need = 'strace' | 'mount'

export interface Bench {
  rounds: number
  /** The executable. */
  program: string
  /** A folder of its own, removed at the end. */
  scratch: string
  /** Lines beneath the verdict. */
  note: (line: string) => void
  /** Breaks the promise on purpose, to show that it would be seen. */
  isPlanted: boolean
}

export interface Verdict {
  /** What was counted, in words. */
  figures: string
  /** Promises that did not hold; [] is a pass. */
  broken: string[]
}

/** Condition → its text among the broken promises, or nothing. */
export const unless = (holds: boolean, promise: string): string[] => (holds ? [] : [promise])

/** The names of those that are in `these` and not in `those`; a few of them, for a line. */
export function missingFrom(these: Iterable<string>, those: { has(name: string): boolean }): string[] {
  return [...these].filter((name) => !those.has(name))
}
