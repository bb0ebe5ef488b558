/** One kind of injected fault, and what must hold under it. */
export interface Fault {
  /** For `--only`. */
  name: string
  /** What the machine must have for it. */
  needs: readonly Need[]
  /** How often, in the long and in the short run, in the unit of the fault. 0: never. */
  rounds: { long: number; short: number }
  run(bench: Bench): Promise<Verdict>
}

export type Need = 'strace' | 'mount' | 'postgres' | 'cc'

export interface Bench {
  rounds: number
  /** The executable. */
  program: string
  /** A temporary folder, removed at the end. */
  scratch: string
  /** Lines below the result. */
  note: (line: string) => void
  /** Breaks the promise on purpose, to show that the check detects it. */
  isPlanted: boolean
}

export interface Verdict {
  /** The counts, in words. */
  figures: string
  /** Violated promises; [] is a pass. */
  broken: string[]
  /** Violated limits that other programs of the machine may violate: the fault is injected once more. */
  slow?: string[]
}

/** Condition → its text as a violated promise, or nothing. */
export const unless = (holds: boolean, promise: string): string[] => (holds ? [] : [promise])

/** The names that are in `these` and not in `those`; a few of them, for a line. */
export function missingFrom(these: Iterable<string>, those: { has(name: string): boolean }): string[] {
  return [...these].filter((name) => !those.has(name))
}
