import { Refusal } from '../../../model/refusal.ts'
import { localeOf, type SourceTexts, TEMPLATE_KINDS, type TemplateKind } from '../../../model/template.ts'
import { fieldOf, isOneOf, isRecord } from '../../../os/records.ts'
import {
  type ParsedTemplate,
  parseTemplateTexts,
  type TemplateParts,
  usesIn,
} from '../../../sending/submission/render.ts'
import { keyedTexts, loadParts, type PartSource } from '../../../sending/submission/template-parts.ts'
import type { Postrider } from '../../postrider.ts'
import { CommandFault } from '../fault.ts'
import { requireTemplate } from '../server.ts'

/** A template as the server has it. */
interface Fetched {
  /** Its alias, or its ID if it has none. */
  reference: string
  ref: { id: string; version: number; organizationId: string; mode: 'live' | 'test'; kind: TemplateKind }
  content: Parameters<typeof keyedTexts>[1]
  sample: Record<string, unknown>
}

/** A template for messages, parsed in each language in which a message can have it. */
export interface ParsedVariants {
  reference: string
  sample: Record<string, unknown>
  variants: { texts: ParsedTemplate; parts: TemplateParts }[]
}

/** All templates that messages of the key can use, by name. Throws CommandFault for an answer that is none of a Postrider
 *  server and for a template that cannot be read, PostriderError for what the server refuses. */
export async function fetchTemplates(server: Postrider): Promise<ParsedVariants[]> {
  const mode = fieldOf(await server.me.get(), 'mode')
  if (mode !== 'live' && mode !== 'test') throw notPostrider()
  const all: Fetched[] = []
  for await (const listed of server.templates.list({ limit: 100 })) {
    if (fieldOf(listed, 'mode') !== mode) continue
    if (all.length === MAX_TEMPLATES) throw new CommandFault(`the server has more than ${MAX_TEMPLATES} templates`)
    all.push(fetchedFrom(await server.templates.get(String(fieldOf(listed, 'id')))))
  }
  const messages = all.filter(({ ref }) => ref.kind === 'message')
  const byName = new Map(messages.map((each) => [each.reference, each]))
  const found = [...byName.values()].toSorted((a, b) => (a.reference < b.reference ? -1 : 1))
  return Promise.all(found.map((each) => parsedIn(each, all)))
}

/** Above the largest plan. */
const MAX_TEMPLATES = 10_000

async function parsedIn({ reference, ref, content, sample }: Fetched, all: Fetched[]): Promise<ParsedVariants> {
  const source: PartSource = {
    current: async (_, alias) => all.find((each) => each.reference === alias)?.ref ?? null,
    content: async ({ id }) => all.find((each) => each.ref.id === id)?.content ?? null,
  }
  const user = { organizationId: ref.organizationId, mode: ref.mode }
  // A part can have a language that the template does not have.
  const parts = all.filter((each) => each.ref.kind !== 'message')
  const locales = new Set(
    [content, ...parts.map((each) => each.content)].flatMap(({ locales }) => Object.keys(locales)),
  )
  const variants: ParsedVariants['variants'] = []
  const seen = new Set<string>()
  try {
    for (const locale of [null, ...locales]) {
      const loaded = await loadParts(content, { user, locale }, source)
      const own = keyedTexts(ref, content, locale)
      const key = JSON.stringify([own.key, loaded?.layout?.key, loaded?.partials.map(([, { key }]) => key)])
      if (seen.has(key)) continue
      seen.add(key)
      const layout = loaded?.layout ? parseTemplateTexts(loaded.layout.texts) : null
      const partials = new Map(loaded?.partials.map(([alias, { texts }]) => [alias, parseTemplateTexts(texts)]))
      variants.push({ texts: parseTemplateTexts(own.texts), parts: { layout, partials } })
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new CommandFault(`template ${reference}: ${error.message}`)
  }
  return { reference, sample, variants }
}

/** Answer of the server → template. */
function fetchedFrom(answer: Parameters<typeof requireTemplate>[0]): Fetched {
  const { id, version, alias, kind, mode, layout, sample, locales, ...own } = requireTemplate(answer)
  const isSound =
    (alias === null || typeof alias === 'string') &&
    (layout === null || typeof layout === 'string') &&
    isOneOf(TEMPLATE_KINDS, kind) &&
    isRecord(sample) &&
    isRecord(locales) &&
    Object.keys(locales).every((locale) => localeOf(locale) !== null)
  if (!isSound) throw notPostrider()
  const main = textsOf(own)
  const others = Object.entries(locales).map(([locale, texts]) => [locale, textsOf(texts)] as const)
  const uses = [main, ...others.map(([, texts]) => texts)].flatMap((texts) => usesOf(texts, alias ?? id))
  return {
    reference: alias ?? id,
    ref: { id, version, organizationId: '', mode, kind },
    content: { ...main, layout, uses: [...new Set(uses)], locales: Object.fromEntries(others) },
    sample,
  }
}

function textsOf(given: object): SourceTexts & { variables: string[] } {
  const { subject, html, text } = given as Record<string, unknown>
  const isText = (value: unknown): value is string | null => value === null || typeof value === 'string'
  if (!isText(subject) || !isText(html) || !isText(text)) throw notPostrider()
  return { subject, html, text, mjml: null, variables: [] }
}

/** Aliases of the partials that the texts render. */
function usesOf(texts: SourceTexts, reference: string): string[] {
  try {
    return usesIn(parseTemplateTexts(texts))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new CommandFault(`template ${reference}: ${error.message}`)
  }
}

function notPostrider(): CommandFault {
  return new CommandFault('POSTRIDER_URL: not a Postrider server. Check the address.')
}
