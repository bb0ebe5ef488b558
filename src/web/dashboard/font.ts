import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import inter from '@fontsource-variable/inter/package.json' with { type: 'json' }

/** Weights of the dashboard: body 400 to headings 600. */
const WEIGHTS = { wght: { min: 400, max: 600 } }
/** Basic Latin to Latin Extended-B (U+0020 to U+024F), and the marks of the pages. Other scripts use the font of the
 *  system. */
const CHARACTERS = `${String.fromCodePoint(...Array.from({ length: 0x230 }, (_, n) => 0x20 + n))}–—‘’“”•…‹›€™←↑→↓−×✓✕⌘⏎`
const PARTS = ['latin', 'latin-ext']

/** The files of Inter that ui/fonts.css names, by name. A release has the used characters and weights only, 38 KB; else
 *  the files stay as they are, since this takes a second. Rejects when the package is not installed. */
export async function fontFiles({ isForRelease }: { isForRelease: boolean }): Promise<Map<string, Uint8Array>> {
  const { resolve } = createRequire(import.meta.url)
  const files = PARTS.map(async (part) => {
    const file = await readFile(resolve(`@fontsource-variable/inter/files/inter-${part}-wght-normal.woff2`))
    return [`inter-${part}-${inter.version}.woff2`, isForRelease ? await subset(file) : file] as const
  })
  return new Map(await Promise.all(files))
}

async function subset(file: Buffer): Promise<Uint8Array> {
  const { default: subsetFont } = await import('subset-font')
  return subsetFont(file, CHARACTERS, { targetFormat: 'woff2', variationAxes: WEIGHTS })
}
