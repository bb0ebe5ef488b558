/** One row of what a mail appliance must have. */
export interface Goal {
  number: number
  area: string
  /** What must hold. */
  goal: string
  /** Measures it; absent where tests alone show it. */
  look?: Look
  /** `file: part of the name of a test in it`. */
  tests?: readonly string[]
  /** What of the goal is not there. */
  lacks?: string
}

export type Look = (place: { program: string; folder: string; root: string }) => Promise<{
  isMet: boolean
  figure: string
}>

export interface Verdict {
  state: 'met' | 'partly' | 'missed'
  figure: string
  lacks: string | null
}
