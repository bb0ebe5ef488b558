import { brotliDecompressSync } from 'node:zlib'
import { type PackedFile, unpack } from '../dashboard/pack.ts'
import type { TopicEntry } from './contents.ts'

/** The files of the manual, built with the executable, or now if run from source (packed.ts). */
export async function manualFiles(): Promise<PackedFile[]> {
  const { packed } = await import('./packed.ts')
  return unpack(await packed())
}

/** Output of `postrider manual`. */
export interface ManualTexts {
  topics: TopicEntry[]
  /** Null for an unknown topic. */
  textOf(topic: string): string | null
}

export async function manualTexts(): Promise<ManualTexts> {
  const files = new Map((await manualFiles()).map((file) => [file.name, file]))
  const read = (name: string) => {
    const file = files.get(name)
    return file === undefined ? null : new TextDecoder().decode(brotliDecompressSync(file.br))
  }
  return { topics: JSON.parse(read('topics.json') ?? '[]'), textOf: (topic) => read(`${topic}.txt`) }
}
