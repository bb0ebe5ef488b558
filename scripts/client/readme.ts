import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')

/** A client's page of the manual → the README of its package, without links to other pages. */
export function readmeOf(topic: string, language: string): string {
  return readFileSync(join(ROOT, `src/web/manual/${topic}.md`), 'utf8')
    .replace(/^# .*/, `# Postrider, ${language} client`)
    .replace(/^<!--.*\n/gm, '')
    .replace(/\[([^\]]+)\]\([\w-]+\.md[^)]*\)/g, '$1')
}

/** The licence, which each package contains. */
export const licence = () => readFileSync(join(ROOT, 'LICENSE'), 'utf8')
