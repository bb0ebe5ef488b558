import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** All files below a folder, except the encryption key → which of the texts they contain, as `file: text`. */
export function foundInFiles(folder: string, texts: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== 'seal.key' && statSync(join(folder, name)).isFile())
    .flatMap((name) => {
      const bytes = readFileSync(join(folder, name))
      return texts.filter((text) => bytes.includes(text)).map((text) => `${name}: ${text.slice(0, 40)}`)
    })
}
