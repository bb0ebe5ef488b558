/** Checks the language of texts that users read; `--all` also checks areas that are not yet clean. Exit code 1 with faults of
 *  spelling, doubled or banned words. Passive voice and long sentences only warn: a clear one may stay. */

import { join } from 'node:path'
import { Glob } from 'bun'
import { createProgram } from '../src/cli/program.ts'
import { isSection, root } from '../src/config/paths.ts'
import type { OpenSection, Section } from '../src/config/schema.ts'
import { openApiDocument } from './openapi-document.ts'
import {
  allTexts,
  errorMessages,
  fromCommands,
  fromMarkdownText,
  fromOpenApi,
  fromSource,
  interfaceTexts,
  type Passage,
  plainPassage,
} from './prose/extract.ts'
import { faultsIn } from './prose/rules.ts'
import { ACCEPTED_TEXTS, COVERED } from './prose/words.ts'

const ROOT = join(import.meta.dir, '..')

const AREAS: Record<string, () => Passage[] | Promise<Passage[]>> = {
  cli: () => fromCommands(createProgram(() => {})),
  config: () => configTexts(root),
  readme: () => markdownFiles('README.md'),
  manual: () => markdownFiles('src/web/manual/*.md'),
  dashboard: () => sources('src/web/dashboard/**/*.{ts,tsx}', interfaceTexts),
  errors: async () => [
    ...(await ofModules(API_MODULES, errorMessages)),
    ...(await ofModules(SERVER_MODULES, allTexts)),
    ...(await sources('src/cli/backup/**/*.ts', allTexts)),
  ],
  openapi: async () => fromOpenApi(await openApiDocument()),
}

const API_MODULES = ['web/api', 'model', 'sending/submission', 'sending/suppressions', 'domains', 'web/compat']
/** Their errors, log messages and SMTP texts are short and appear in many forms, so all texts are checked. */
const SERVER_MODULES = [
  ...['domains/certificates', 'mail', 'net', 'operating/maintenance', 'os', 'receiving', 'sending/outbound'],
  ...['sending/tls-policy', 'server', 'storage'],
]

/** Samples, words in other languages and names of HTML elements. */
const NO_PROSE = new Set(['src/receiving/inbound/warm-up.ts', 'src/mail/failure-words.ts', 'src/mail/html-text.ts'])

const wanted = process.argv.includes('--all') ? Object.keys(AREAS) : COVERED
const checked = new Map<string, number>()
let faults = 0
let warnings = 0
for (const area of wanted) {
  const passages = await AREAS[area]!()
  checked.set(area, passages.length)
  const seen = new Set(ACCEPTED_TEXTS)
  for (const { place, text } of passages) {
    if (seen.has(text)) continue
    seen.add(text)
    for (const { rule, message } of await faultsIn(text)) {
      const isStyle = rule === 'passive' || rule === 'length'
      console.log(`${place}: ${isStyle ? 'warning: ' : ''}${rule}: ${message} in "${text}"`)
      if (isStyle) warnings++
      else faults++
    }
  }
}
const counts = [...checked].map(([area, count]) => `${area} ${count}`).join(', ')
console.log(`prose: ${faults} faults, ${warnings} warnings in ${counts} texts`)
process.exitCode = faults === 0 ? 0 : 1

function configTexts(section: Section | OpenSection, path = 'config'): Passage[] {
  const own = section.about === '' ? [] : [{ ...plainPassage(section.about), place: path }]
  const entries = Object.entries(section.keys).flatMap(([name, node]) =>
    isSection(node)
      ? configTexts(node, `${path}.${name}`)
      : [{ ...plainPassage(node.about), place: `${path}.${name}` }],
  )
  return [...own, ...entries]
}

async function markdownFiles(pattern: string): Promise<Passage[]> {
  const files = await filesOf(pattern)
  return files.flatMap(({ path, text }) => fromMarkdownText(path, text))
}

async function sources(pattern: string, textsOf: Parameters<typeof fromSource>[2]): Promise<Passage[]> {
  const files = (await filesOf(pattern)).filter(({ path }) => !path.includes('.test.') && !NO_PROSE.has(path))
  return files.flatMap(({ path, text }) => fromSource(path, text, textsOf))
}

async function ofModules(modules: readonly string[], textsOf: Parameters<typeof fromSource>[2]): Promise<Passage[]> {
  return (await Promise.all(modules.map((module) => sources(`src/${module}/**/*.ts`, textsOf)))).flat()
}

async function filesOf(pattern: string): Promise<{ path: string; text: string }[]> {
  const paths = [...new Glob(pattern).scanSync(ROOT)].toSorted()
  return Promise.all(paths.map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })))
}
