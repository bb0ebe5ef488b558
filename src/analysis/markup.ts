import type { HtmlTag } from '../mail/html-scan.ts'
import type { Code } from './codes.ts'
import type { Report, Rule } from './mail.ts'
import { lineOf, type Page } from './page.ts'
import { attributeOf } from './style.ts'

/** The HTML is what its author meant. */
export const markup: Rule = ({ page }, report) => {
  if (page === null) return
  const tell = teller(page, report)
  if (page.isWhole) {
    tell('html_unclosed_tag', page.faults.unclosed)
    if (page.cutAt >= 0) report('html_cut_tag', ` (line ${lineOf(page.html, page.cutAt)})`)
  }
  tell('html_misnested_tag', page.faults.misnested)
  tell('html_stray_close', page.faults.stray)
  tell('html_self_closed', page.faults.selfClosed)
  tell('html_duplicate_attribute', page.tags.filter(hasTwice))

  if (!page.hasDoctype) report('html_doctype_missing')
  const head = page.tags.find(({ name }) => name === 'head')
  if (head !== undefined && !page.tags.some(namesCharset)) report('html_charset_missing')
  const root = page.tags.find(({ name }) => name === 'html')
  if (root !== undefined && !attributeOf(root, 'lang')) report('html_lang_missing')
}

/** What no mail client runs and filters refuse. */
export const active: Rule = ({ page }, report) => {
  if (page === null) return
  const tell = teller(page, report)
  const named = (names: string[]) => page.tags.filter(({ name }) => names.includes(name))
  tell('active_script', named(['script']))
  tell('active_frame', named(['iframe', 'frame', 'frameset']))
  tell('active_object', named(['object', 'embed', 'applet']))
  tell('active_form', named(['form', 'input', 'select', 'textarea']))
  tell('active_base', named(['base']))
  tell(
    'active_refresh',
    named(['meta']).filter((tag) => /^\s*refresh/i.test(attributeOf(tag, 'http-equiv') ?? '')),
  )
  tell(
    'active_event_handler',
    page.tags.filter(({ attributes }) => attributes.some(({ name }) => HANDLER.test(name))),
  )
}

const HANDLER = /^on[a-z]{3,30}$/

function hasTwice({ attributes }: HtmlTag): boolean {
  return attributes.length > 1 && new Set(attributes.map(({ name }) => name)).size < attributes.length
}

function namesCharset(tag: HtmlTag): boolean {
  if (tag.name !== 'meta') return false
  return attributeOf(tag, 'charset') !== undefined || /charset/i.test(attributeOf(tag, 'content') ?? '')
}

function teller(page: Page, report: Report) {
  return (code: Code, tags: readonly HtmlTag[]) => {
    if (tags.length === 0) return
    const shown = tags.slice(0, 3).map((tag) => `${nameOf(tag)} in line ${lineOf(page.html, tag.start)}`)
    report(code, `: ${shown.join(', ')}${tags.length > 3 ? ` and ${tags.length - 3} more` : ''}`)
  }
}

function nameOf({ kind, name }: HtmlTag): string {
  return `<${kind === 'close' ? '/' : ''}${name.slice(0, 40)}>`
}
