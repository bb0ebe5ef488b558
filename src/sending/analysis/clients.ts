import { CLIENT_FEATURES, type ClientFeature } from './client-support.ts'
import type { ClientCode } from './codes.ts'
import type { Rule } from './mail.ts'
import type { Page } from './page.ts'
import { attributeOf } from './style.ts'

/** Reports CSS and HTML that common mail clients drop. */
export const clients: Rule = ({ page }, report) => {
  if (page === null) return
  const used = inventoryOf(page)
  for (const [code, { uses }] of Object.entries(CLIENT_FEATURES) as [ClientCode, ClientFeature][]) {
    if (isUsed(uses, used)) report(code)
  }
}

/** The features in a page, each once. */
interface Inventory {
  page: Page
  tags: Set<string>
  values: Set<string>
}

function inventoryOf(page: Page): Inventory {
  const values = new Set<string>()
  for (const each of page.css.values.values()) for (const value of each) values.add(value.slice(0, MAX_VALUE))
  return { page, tags: new Set(page.tags.map(({ name }) => name)), values }
}

const MAX_VALUE = 2000 // ours: longer ones are images

function isUsed(uses: ClientFeature['uses'], { page, tags, values }: Inventory): boolean {
  const { css } = page
  if (uses.tags?.some((name) => tags.has(name))) return true
  if (uses.atRules?.some((name) => css.atRules.has(name))) return true
  for (const [property, test] of Object.entries(uses.property ?? {})) {
    if (some(css.values.get(property), test)) return true
  }
  if (uses.propertyName && some(css.values.keys(), uses.propertyName)) return true
  if (uses.value && some(values, uses.value)) return true
  if (uses.selector && some(css.selectors, uses.selector)) return true
  const { image } = uses
  if (image && page.images.some(({ src }) => image.test(src))) return true
  if (uses.styleInBody && page.hasStyleInBody) return true
  return uses.externalStyleSheet === true && page.tags.some(isExternalSheet)
}

function some(texts: Iterable<string> | undefined, test: RegExp): boolean {
  for (const text of texts ?? []) if (test.test(text)) return true
  return false
}

function isExternalSheet(tag: Page['tags'][number]): boolean {
  return tag.name === 'link' && /\bstylesheet\b/i.test(attributeOf(tag, 'rel') ?? '')
}
