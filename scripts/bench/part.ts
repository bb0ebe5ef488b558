import type { Figure } from './figures.ts'

/** One part of the bench, measured for each executable in turn or for the machine. */
export interface Part {
  /** For `--only`. */
  name: string
  /** Its warm-up and medians need no further rounds. */
  isOnce?: boolean
  /** Once a round for each executable. */
  measure?: (bench: Bench, binary: Binary) => Promise<void>
  /** Once a round, after the executables: measurements without one. */
  beside?: (bench: Bench) => Promise<void>
}

export interface Binary {
  name: 'this' | 'against'
  file: string
}

/** What a part gets. */
export interface Bench {
  /** A folder that is removed at the end. */
  scratch: string
  /** The folder of `--data`, for the part that needs one. */
  data: string | null
  /** The share of `--share`, for the part with that much data. */
  share: number
  /** Mails of a load. */
  messages: number
  /** Records a value of this round: of an executable or a column of the figure; null: of the first column. */
  note: (who: { name: string } | null, figure: Figure, value: number) => void
}
