import { type PackedFile, packedFile, unpackTogether } from '../dashboard/pack.ts'
import type { TopicEntry } from './contents.ts'

/** The packed manual (bundle.ts) → its files for browsers. Each is compressed now, on other threads: scripts and style,
 *  which every reader loads, at the high level, and all others at the low one. */
export async function manualFiles(packed: Uint8Array): Promise<PackedFile[]> {
  const files = await unpackTogether(packed)
  return Promise.all(files.map((file) => packedFile(file, /\.(?:js|css)$/.test(file[0]))))
}

/** Output of `postrider manual`. */
export interface ManualTexts {
  topics: TopicEntry[]
  /** Null for an unknown topic. */
  textOf(topic: string): string | null
}

/** The packed manual → its texts. */
export async function manualTexts(packed: Uint8Array): Promise<ManualTexts> {
  const files = new Map(await unpackTogether(packed))
  const read = (name: string) => {
    const content = files.get(name)
    return content === undefined ? null : new TextDecoder().decode(content)
  }
  return { topics: JSON.parse(read('topics.json') ?? '[]'), textOf: (topic) => read(`${topic}.txt`) }
}
