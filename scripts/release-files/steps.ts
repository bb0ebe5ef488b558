import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The parts of a release and how long each took. */
export class Steps {
  readonly #lines: string[] = []
  readonly #startedAt = performance.now()

  async run<Result>(name: string, part: () => Result | Promise<Result>): Promise<Result> {
    const startedAt = performance.now()
    const result = await part()
    this.#lines.push(`${name.padEnd(44)} ${seconds(performance.now() - startedAt)}`)
    return result
  }

  /** Prints the files with their sizes, and the times. */
  print(folder: string): void {
    for (const name of readdirSync(folder).sort()) {
      console.log(`${name.padEnd(44)} ${(statSync(join(folder, name)).size / 1_000_000).toFixed(1)} MB`)
    }
    for (const line of this.#lines) console.log(line)
    console.log(`${'in all'.padEnd(44)} ${seconds(performance.now() - this.#startedAt)}`)
  }
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
