import type { Figure } from './figures.ts'

/** One part of the bench, measured for each binary in turn or for the machine. */
export interface Part {
  /** For `--only`. */
  name: string
  /** Once a round for each binary. */
  measure?: (bench: Bench, binary: Binary) => Promise<void>
  /** Once a round, after the binaries: measurements without one. */
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
  /** The folder of `--release`, for the part that installs it. */
  release: string | null
  /** The file of `--against`, for parts that use both binaries at once. */
  against: string | null
  /** Mails of a load. */
  messages: number
  /** From 0. */
  round: number
  /** Records a value of this round: of a binary, a column of the figure, or the machine. */
  note: (who: { name: string } | null, figure: Figure, value: number) => void
  /** The value of this round, if it was recorded. */
  noted: (who: Binary, figure: Figure) => number | undefined
}
