import { join } from 'node:path'
import { fillTemplate, parseTemplateTexts } from '../../sending/submission/render.ts'
import { fontFiles } from './font.ts'
import { type PackedFile, type PlainFile, packedFile } from './pack.ts'
import { STARTERS } from './starters/starters.ts'

const FOLDER = '/dashboard/assets/'

/** Compiles ui/ into the files that browsers load, each compressed (pack.ts); a release uses the highest level. It
 *  needs the source files: scripts/build.ts calls it for the executable, and a server that runs from source
 *  calls it at the first request. Rejects with the compile errors. */
export async function bundleDashboard({ isForRelease }: { isForRelease: boolean }): Promise<PackedFile[]> {
  const compiled = await compilePage(join(import.meta.dir, 'ui/index.html'))
  const starters = STARTERS.map((starter) => {
    return [
      `starter-templates/${starter.alias}.json`,
      new TextEncoder().encode(JSON.stringify(starter)),
    ] satisfies PlainFile
  })
  const files = [...compiled, ...starters, starterPreviews(), ...(await fontFiles({ isForRelease }))]
  return Promise.all(files.map((file) => packedFile(file, isForRelease)))
}

/** The HTML of every starter with its sample, by alias: what the gallery shows of them. */
function starterPreviews(): PlainFile {
  const previews = STARTERS.map(({ alias, sample, ...texts }) => [
    alias,
    fillTemplate(parseTemplateTexts(texts), sample).html,
  ])
  const json = JSON.stringify(Object.fromEntries(previews))
  return ['starter-templates/previews.json', new TextEncoder().encode(json)]
}

/** HTML file → the page and what it loads from FOLDER, by name; a hash of the content is in every name but that of the
 *  page. Files of the folder that the source names stay as they are. Rejects with the compile errors. */
async function compilePage(html: string): Promise<PlainFile[]> {
  const { outputs } = await Bun.build({
    entrypoints: [html],
    target: 'browser',
    splitting: true,
    minify: true,
    sourcemap: 'none',
    publicPath: FOLDER,
    external: [`${FOLDER}*`],
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  return Promise.all(
    outputs.map(async (output): Promise<PlainFile> => {
      return [output.path.replace(/^\.?\//, ''), new Uint8Array(await output.arrayBuffer())]
    }),
  )
}
