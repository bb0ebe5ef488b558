import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlainFile } from '../dashboard/pack.ts'
import type { Node } from './command-tree.ts'
import { CONTENTS, TOPICS, type TopicEntry } from './contents.ts'
import { llmsText } from './llms-text.ts'
import { type ManualPage, readPage } from './markdown.ts'
import { type Assets, contentsHtml, pageHtml } from './page-html.ts'
import { referencePages } from './reference.ts'
import { manualTables, withTables } from './tables.ts'

const PAGES = import.meta.dir
const IMAGES = ['dashboard.png', 'threats.svg']

/** The manual, with the commands of the program → its files for browsers, terminals and programs: `tls.html`, `tls.txt` and `tls.md` for each topic,
 *  `index.html`, `llms.txt`, `topics.json`, and below `assets/` what the pages load. Requires the source files:
 *  scripts/build.ts calls it for the executable, and a server run from source calls it at the first request. */
export async function bundleManual(program: Node): Promise<PlainFile[]> {
  const pages = await readPages(program)
  const search = JSON.stringify(searchIndex(pages))
  const assets = await buildAssets(search)
  const files: [name: string, content: string | Uint8Array][] = [
    ['index.html', contentsHtml(CONTENTS, pages, assets)],
    [
      'topics.json',
      JSON.stringify([...pages.values()].map(({ topic, title, summary }): TopicEntry => ({ topic, title, summary }))),
    ],
    ['llms.txt', llmsText(CONTENTS, pages)],
    ...IMAGES.map((name): [string, Uint8Array] => [`images/${name}`, readFileSync(join(PAGES, 'images', name))]),
    ...assets.files,
  ]
  for (const page of pages.values()) {
    files.push(
      [`${page.topic}.html`, pageHtml(page, CONTENTS, pages, assets)],
      [`${page.topic}.txt`, `${page.text}\n`],
      [`${page.topic}.md`, page.markdown],
    )
  }
  return files.map(([name, content]) => [name, Buffer.from(content)])
}

/** Every topic in the order of the table of contents. */
export async function readPages(program: Node): Promise<Map<string, ManualPage>> {
  const reference = await referencePages(program)
  const tables = await manualTables()
  const textOf = (topic: string) =>
    reference[topic] ?? withTables(readFileSync(join(PAGES, `${topic}.md`), 'utf8'), tables)
  return new Map(TOPICS.map((topic) => [topic, readPage(topic, textOf(topic))]))
}

/** One entry of the search index: page, anchor, heading, text. */
export type SearchEntry = [path: string, page: string, heading: string, words: string]

function searchIndex(pages: ReadonlyMap<string, ManualPage>): SearchEntry[] {
  return [...pages.values()].flatMap(({ topic, title, sections }) =>
    sections.map(
      ({ anchor, heading, words }): SearchEntry => [
        anchor === '' ? topic : `${topic}#${anchor}`,
        title,
        heading,
        words,
      ],
    ),
  )
}

async function buildAssets(search: string): Promise<Assets & { files: [string, string | Uint8Array][] }> {
  const { outputs } = await Bun.build({
    entrypoints: [join(PAGES, 'ui/manual.css'), join(PAGES, 'ui/manual.ts')],
    target: 'browser',
    minify: true,
    sourcemap: 'none',
    naming: { entry: '[name]-[hash].[ext]' },
  })
  const icon = readFileSync(join(PAGES, '../dashboard/ui/icon.svg'))
  const hashed = `search-${new Bun.CryptoHasher('sha256').update(search).digest('hex').slice(0, 8)}.json`
  const built = await Promise.all(
    outputs.map(async (output): Promise<[string, string]> => {
      return [`assets/${output.path.replace(/^.*\//, '')}`, await output.text()]
    }),
  )
  const named = (extension: string) => built.map(([name]) => name).find((name) => name.endsWith(extension)) ?? ''
  return {
    style: named('.css'),
    script: named('.js'),
    search: `assets/${hashed}`,
    icon: 'assets/icon.svg',
    files: [...built, [`assets/${hashed}`, search], ['assets/icon.svg', icon]],
  }
}
