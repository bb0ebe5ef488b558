import { cutText } from '../../mail/cut-text.ts'
import type { HtmlTag } from '../../mail/html-scan.ts'
import type { Code } from './codes.ts'
import type { Report, Rule } from './mail.ts'
import { lineOf, type Page } from './page.ts'
import { attributeOf } from './style.ts'

/** Checks that the HTML is well-formed. */
export const markup: Rule = ({ page }, report) => {
  if (page === null) return
  const reportTags = tagReporter(page, report)
  if (page.isWhole) {
    reportTags('html_unclosed_tag', page.faults.unclosed)
    if (page.cutAt >= 0) report('html_cut_tag', ` (line ${lineOf(page.html, page.cutAt)})`)
  }
  reportTags('html_misnested_tag', page.faults.misnested)
  reportTags('html_stray_close', page.faults.stray)
  reportTags('html_self_closed', page.faults.selfClosed)
  reportTags('html_duplicate_attribute', page.tags.filter(hasTwice))

  if (!page.hasDoctype) report('html_doctype_missing')
  const head = page.tags.find(({ name }) => name === 'head')
  if (head !== undefined && !page.tags.some(namesCharset)) report('html_charset_missing')
  const root = page.tags.find(({ name }) => name === 'html')
  if (root !== undefined && !attributeOf(root, 'lang')) report('html_lang_missing')
}

/** Reports active content, which mail clients do not run and filters reject. */
export const active: Rule = ({ page }, report) => {
  if (page === null) return
  const reportTags = tagReporter(page, report)
  const named = (names: string[]) => page.tags.filter(({ name }) => names.includes(name))
  reportTags('active_script', named(['script']))
  reportTags('active_frame', named(['iframe', 'frame', 'frameset']))
  reportTags('active_object', named(['object', 'embed', 'applet']))
  reportTags('active_form', named(['form', 'input', 'select', 'textarea']))
  reportTags('active_base', named(['base']))
  reportTags(
    'active_refresh',
    named(['meta']).filter((tag) => /^\s*refresh/i.test(attributeOf(tag, 'http-equiv') ?? '')),
  )
  reportTags(
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

function tagReporter(page: Page, report: Report) {
  return (code: Code, tags: readonly HtmlTag[]) => {
    if (tags.length === 0) return
    const shown = tags.slice(0, 3).map((tag) => `${nameOf(tag)} in line ${lineOf(page.html, tag.start)}`)
    report(code, `: ${shown.join(', ')}${tags.length > 3 ? ` and ${tags.length - 3} more` : ''}`)
  }
}

function nameOf({ kind, name }: HtmlTag): string {
  return `<${kind === 'close' ? '/' : ''}${cutText(name, 40)}>`
}
