import { type PackedFile, type PlainFile, packedFile, unpackTogether } from '../dashboard/pack.ts'
import type { TopicEntry } from './contents.ts'

/** The files of the manual for browsers. Each is compressed now, at the low level: 50 to 80 ms for all. */
export async function manualFiles(): Promise<PackedFile[]> {
  return Promise.all((await plainFiles()).map((file) => packedFile(file, false)))
}

/** The same files as they are: built with the executable, or now if run from source (packed.ts). */
async function plainFiles(): Promise<PlainFile[]> {
  const { packed } = await import('./packed.ts')
  return unpackTogether(await packed())
}

/** Output of `postrider manual`. */
export interface ManualTexts {
  topics: TopicEntry[]
  /** Null for an unknown topic. */
  textOf(topic: string): string | null
}

export async function manualTexts(): Promise<ManualTexts> {
  const files = new Map(await plainFiles())
  const read = (name: string) => {
    const content = files.get(name)
    return content === undefined ? null : new TextDecoder().decode(content)
  }
  return { topics: JSON.parse(read('topics.json') ?? '[]'), textOf: (topic) => read(`${topic}.txt`) }
}
