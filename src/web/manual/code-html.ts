import { LANGUAGE_NAMES } from '../examples/languages.ts'
import { type Highlighted, partsOf } from '../reference/ui/highlight.ts'
import { escapeHtml } from './escape.ts'
import type { CodeInLanguages } from './request-examples.ts'

/** Language of a block in Markdown → how it is highlighted, and its name. */
const SHOWN: Record<string, readonly [highlighted: Highlighted, name: string]> = {
  sh: ['curl', 'Shell'],
  js: ['typescript', 'JavaScript'],
  ts: ['typescript', 'TypeScript'],
  tsx: ['typescript', 'TypeScript'],
  py: ['python', 'Python'],
  php: ['php', 'PHP'],
  go: ['go', 'Go'],
  rb: ['ruby', 'Ruby'],
  json: ['json', 'JSON'],
  toml: ['toml', 'TOML'],
  env: ['toml', 'Environment'],
  caddy: ['plain', 'Caddyfile'],
  yaml: ['plain', 'YAML'],
  nginx: ['plain', 'nginx'],
}

/** A block of code → HTML with highlighting. Several languages are blocks one after another, of which a script makes
 *  tabs. Throws for a language without a row in SHOWN. */
export function codeHtml({ lang = '', text, languages }: CodeInLanguages): string {
  if (languages !== undefined) {
    const boxes = languages.map(([language, code]) => {
      const name = LANGUAGE_NAMES[language]
      return `<div class="language" data-language="${language}" data-name="${name}">${boxHtml(code, language, name)}</div>`
    })
    return `<div class="languages">${boxes.join('')}</div>\n`
  }
  if (lang === '') return boxHtml(text, 'plain', '')
  const shown = SHOWN[lang]
  if (shown === undefined) throw new Error(`the manual has no highlighting for ${lang}: ${text}`)
  return boxHtml(text, ...shown)
}

function boxHtml(text: string, language: Highlighted, name: string): string {
  const parts = partsOf(text, language).map(([kind, part]) =>
    kind === '' ? escapeHtml(part) : `<span class="code-${kind}">${escapeHtml(part)}</span>`,
  )
  const label = name === '' ? 'Code' : `Code: ${name}`
  return `<figure class="code-box" aria-label="${label}"><figcaption><span>${name}</span></figcaption><pre tabindex="0"><code>${parts.join('')}</code></pre></figure>\n`
}
