import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../version.ts'
import { openApiDocument } from '../api/openapi/document.ts'
import type { PlainFile } from '../dashboard/pack.ts'
import { type Reference, readReference } from '../reference/ui/document.ts'
import { allOperations } from './all-operations.ts'
import type { Node } from './command-tree.ts'
import { CONTENTS, TOPICS, type TopicEntry } from './contents.ts'
import { llmsText } from './llms-text.ts'
import { type ManualPage, readPage } from './markdown.ts'
import { contentsHtml, missingHtml, pageHtml, referenceHtml } from './page-html.ts'
import { referencePages } from './reference.ts'
import { searchIndex } from './search-index.ts'
import type { Assets, Site } from './shell.ts'
import { manualTables, withTables } from './tables.ts'

const PAGES = import.meta.dir
const IMAGES = ['dashboard.png', 'threats.svg']
const FOLDER = '/manual/assets/'

/** The manual and the API reference, with the commands of the program → their files for browsers, terminals and programs:
 *  `tls.html`, `tls.txt` and `tls.md` for each topic, `index.html`, `docs.html`, `missing.html`, `llms.txt`,
 *  `topics.json`, and below `assets/` what the pages load. Requires the source files: scripts/build.ts calls it for the
 *  executable, and a server run from source calls it at the first request. */
export async function bundleManual(program: Node): Promise<PlainFile[]> {
  const reference = await readOperations()
  const pages = await readPages(program, reference)
  const { assets, files: loaded } = await buildAssets(JSON.stringify(searchIndex(pages, reference)))
  const site: Site = { pages, reference, assets }
  const files: [name: string, content: string | Uint8Array][] = [
    ['index.html', contentsHtml(site)],
    ['docs.html', referenceHtml(site)],
    ['missing.html', missingHtml(site)],
    [
      'topics.json',
      JSON.stringify([...pages.values()].map(({ topic, title, summary }): TopicEntry => ({ topic, title, summary }))),
    ],
    ['llms.txt', llmsText(CONTENTS, pages)],
    ...IMAGES.map((name): [string, Uint8Array] => [`images/${name}`, readFileSync(join(PAGES, 'images', name))]),
    ...loaded,
  ]
  for (const page of pages.values()) {
    files.push(
      [`${page.topic}.html`, pageHtml(page, site)],
      [`${page.topic}.txt`, `${page.text}\n`],
      [`${page.topic}.md`, page.markdown],
    )
  }
  return files.map(([name, content]) => [name, Buffer.from(content)])
}

/** The operations and webhooks of the API, as its reference has them. */
export const readOperations = async (): Promise<Reference> =>
  readReference(await openApiDocument(await allOperations(), VERSION))

/** Every topic in the order of the table of contents. */
export async function readPages(program: Node, reference: Reference): Promise<Map<string, ManualPage>> {
  const generated = await referencePages(program)
  const tables = await manualTables()
  const textOf = (topic: string) =>
    generated[topic] ?? withTables(readFileSync(join(PAGES, `${topic}.md`), 'utf8'), tables)
  return new Map(TOPICS.map((topic) => [topic, readPage(topic, textOf(topic), reference)]))
}

async function buildAssets(search: string): Promise<{ assets: Assets; files: [string, string | Uint8Array][] }> {
  const { outputs } = await Bun.build({
    entrypoints: [
      join(PAGES, 'ui/shell.css'),
      join(PAGES, 'ui/shell.ts'),
      join(PAGES, '../reference/ui/operations.tsx'),
    ],
    target: 'browser',
    minify: true,
    sourcemap: 'none',
    publicPath: FOLDER,
    external: [`${FOLDER}*`],
    plugins: [OWN_FONT],
    naming: { entry: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const built = await Promise.all(
    outputs.map(async (output): Promise<[string, string]> => {
      return [`assets/${output.path.replace(/^.*\//, '')}`, await output.text()]
    }),
  )
  const icon = readFileSync(join(PAGES, '../dashboard/ui/icon.svg'))
  const hashed = `search-${new Bun.CryptoHasher('sha256').update(search).digest('hex').slice(0, 8)}.json`
  const named = (start: string, extension: string) => {
    const found = built.find(([name]) => name.startsWith(`assets/${start}-`) && name.endsWith(extension))
    return `/manual/${found?.[0]}`
  }
  const assets = {
    style: named('shell', '.css'),
    script: named('shell', '.js'),
    operations: named('operations', '.js'),
    search: FOLDER + hashed,
    icon: `${FOLDER}icon.svg`,
    font: built.map(([, text]) => FIRST_FONT.exec(text)?.[0]).find((path) => path !== undefined) ?? '',
  }
  return { assets, files: [...built, [`assets/${hashed}`, search], ['assets/icon.svg', icon]] }
}

/** Path of the font that most pages need only, in the style. */
const FIRST_FONT = /\/manual\/assets\/inter-latin-[\d.]+\.woff2/

/** The font of the dashboard at a path of these pages, because a server may have no dashboard (pages.ts). */
const OWN_FONT: Bun.BunPlugin = {
  name: 'own font',
  setup: (build) => {
    build.onLoad({ filter: /dashboard\/ui\/fonts\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('/dashboard/assets/', FOLDER),
      loader: 'css',
    }))
  },
}
