import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GENERATED, TOPICS } from '../../src/web/manual/contents.ts'

const ROOT = join(import.meta.dir, '../..')

/** One Markdown file that people read. */
export interface DocumentationPage {
  /** From the root of the repository. */
  path: string
  text: string
}

/** README and the manual's pages in the order of its contents. Tests run their code in this order. */
export const DOCUMENTATION: readonly DocumentationPage[] = [
  'README.md',
  ...TOPICS.filter((topic) => !GENERATED.includes(topic)).map((topic) => `src/web/manual/${topic}.md`),
].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

/** A page of the manual by its topic, or README.md. */
export function documentationOf(name: string): string {
  const page = DOCUMENTATION.find(({ path }) => path === name || path === `src/web/manual/${name}.md`)
  if (page === undefined) throw new Error(`no page ${name}`)
  return page.text
}
