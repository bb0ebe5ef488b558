import { aliasFault } from '../../../model/template.ts'
import { parseText, TemplateFault } from '../../../sending/submission/template-engine.ts'
import type { ForeignTemplate } from './sources.ts'
import { type Language, translate } from './translate.ts'

/** What does not translate, or changes: `html, line 3: the partial footer is not in the export`. */
export type Finding = string

/** A template as the body of templates_create, and what the reader must know of it. */
export interface Converted {
  body: {
    name: string
    alias: string
    kind: 'message' | 'layout'
    subject: string | null
    html: string | null
    text: string | null
    layout: string | null
    sample: Record<string, unknown>
  }
  /** Reasons not to store it. */
  problems: Finding[]
  /** What is different, without a reason not to store it. */
  notes: Finding[]
}

/** Template of another service → ours. Its key becomes the alias, so that programs keep their names. Never throws. */
export function converted(template: ForeignTemplate, language: Language): Converted {
  const { name, key, isLayout, fallbacks } = template
  const problems: Finding[] = []
  const text = (field: 'subject' | 'html' | 'text') => {
    const source = template[field]
    if (source === null || (isLayout && field === 'subject')) return null
    const found = translate(source, { language, isHtml: field === 'html', fallbacks })
    problems.push(...found.problems.map(({ line, message }) => `${field}, line ${line}: ${message}`))
    if (found.problems.length === 0) problems.push(...faultIn(found.text, field, isLayout))
    return found.text
  }
  const alias = aliasOf(key)
  const layout = template.layout === null ? null : aliasOf(template.layout)
  const own = { alias, layout, name: cut(name), kind: isLayout ? ('layout' as const) : ('message' as const) }
  const body = { ...own, subject: text('subject'), html: text('html'), text: text('text'), sample: template.sample }
  if (JSON.stringify(body.sample).length > MAX_SAMPLE) body.sample = {}
  const notes = alias === key ? [] : [`its alias was ${key}`]
  return { body, problems, notes }
}

/** Parses it as sending would. */
function faultIn(text: string, field: string, isLayout: boolean): Finding[] {
  try {
    const { isFrame } = parseText(text, field === 'html' ? 'html' : 'plain')
    return isLayout && !isFrame ? [`${field}: a layout needs its content exactly once`] : []
  } catch (thrown) {
    if (!(thrown instanceof TemplateFault)) throw thrown
    return [`${field}, line ${thrown.line ?? 1}: ${thrown.message}`]
  }
}

/** `Order_Shipped.v2` → `order-shipped-v2`. */
function aliasOf(key: string): string {
  if (aliasFault(key) === null) return key
  return (
    key
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 100)
      .replace(/^-|-$/g, '') || 'template'
  )
}

const cut = (name: string) => [...name.replace(/[\x00-\x1f\x7f]/g, ' ').trim()].slice(0, 100).join('') || 'Template'

const MAX_SAMPLE = (16 * 1024) / 3 // UTF-8 takes at most three bytes per UTF-16 unit
