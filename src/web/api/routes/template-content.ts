import { invalid, Refusal } from '../../../model/refusal.ts'
import {
  MAX_LOCALE_CHARACTERS,
  MAX_LOCALES,
  type SourceTexts,
  type Template,
  type TemplateContent,
  type TemplateTexts,
  type TemplateVariant,
} from '../../../model/template.ts'
import {
  loadParts,
  NOT_RENDERED,
  type PartTexts,
  type TemplateUser,
} from '../../../sending/submission/template-parts.ts'
import { lengthOf, type TemplateEngine } from '../../../sending/submission/templates.ts'
import type { Store } from '../../../storage/store.ts'

/** The texts of a template as a request wants them. With `mjml`, contentOf compiles `html`, unless it is already there. */
export interface WantedContent extends SourceTexts {
  layout: string | null
  locales: Record<string, SourceTexts>
}

export interface TemplateContents {
  /** Texts → content with their variables. Rejects with `validation_error` for a syntax error, for html and text both
   *  missing, for what the kind does not allow, and for a layout or partial that does not exist. */
  contentOf(
    wanted: WantedContent,
    of: Pick<Template, 'id' | 'organizationId' | 'mode' | 'kind'>,
  ): Promise<TemplateContent>
  /** Texts that are not stored → the same with compiled `html`. Rejects as contentOf does. */
  compiled(texts: SourceTexts, of: { layout: string | null; organizationId: string }): Promise<TemplateTexts>
  /** Texts that are not stored → their layout and partials. Rejects as contentOf does. */
  partsOf(
    texts: TemplateTexts,
    of: { layout: string | null; locale: string | null; user: TemplateUser },
  ): Promise<PartTexts | null>
}

export function createTemplateContents({
  store,
  templateEngine,
}: {
  store: Pick<Store, 'templates'>
  templateEngine: Pick<TemplateEngine, 'parse' | 'compile'>
}): TemplateContents {
  const source = {
    current: store.templates.current,
    content: ({ id, version }: { id: string; version: number }) => store.templates.version(id, version),
  }
  const load = (of: Parameters<typeof loadParts>[0], by: Parameters<typeof loadParts>[1]) =>
    loadParts(of, by, source).catch((error) => {
      throw asInvalid(error, of.layout)
    })

  const compiled = async <T extends SourceTexts>(texts: T, at: string, organizationId: string): Promise<T> =>
    texts.mjml === null || texts.html !== null
      ? texts
      : { ...texts, html: await templateEngine.compile(texts.mjml, at, organizationId) }

  return {
    contentOf: async (wanted, template) => {
      requireFitting(wanted, template.kind)
      const { id, organizationId, kind } = template
      const parse = async ({ subject, html, text }: TemplateTexts, at: string, parts: PartTexts | null) =>
        await templateEngine.parse({ subject, html, text }, { kind, at, parts }, organizationId)
      const variants = [
        { locale: null, at: '', texts: textsOf(wanted) },
        ...Object.entries(wanted.locales).map(([locale, texts]) => ({ locale, at: `locales.${locale}.`, texts })),
      ]
      for (const each of variants) each.texts = await compiled(each.texts, each.at, organizationId)
      requireShort(variants.slice(1).map(({ texts }) => texts))
      const parsed: Awaited<ReturnType<typeof parse>>[] = []
      for (const { texts, at } of variants) parsed.push(await parse(texts, at, null))
      const uses = [...new Set(parsed.flatMap((each) => each.uses))]
      const { layout } = wanted
      const made: TemplateVariant[] = []
      for (const [index, { locale, at, texts }] of variants.entries()) {
        const parts = await load({ layout, uses }, { user: template, locale, self: id })
        const { variables } = parts === null ? parsed[index]! : await parse(texts, at, parts)
        made.push({ ...texts, variables })
      }
      const [main, ...others] = made
      const locales = Object.fromEntries(others.map((each, index) => [variants[index + 1]!.locale!, each]))
      return { ...main!, layout, uses, locales }
    },

    compiled: async (texts, { layout, organizationId }) => {
      requireMjmlFitting(texts, '', { kind: 'message', layout })
      const { subject, html, text } = await compiled(texts, '', organizationId)
      return { subject, html, text }
    },

    partsOf: async (texts, { layout, locale, user }) => {
      requireBody(texts, '')
      const mayRender = `${texts.html ?? ''} ${texts.text ?? ''}`.includes('render')
      const as = { kind: 'message', at: '', parts: null } as const
      const uses = mayRender ? (await templateEngine.parse(texts, as, user.organizationId)).uses : []
      return load({ layout, uses }, { user, locale })
    },
  }
}

/** Whole texts without other fields. */
export function textsOf({ subject, html, mjml, text }: SourceTexts): SourceTexts {
  return { subject, html, mjml, text }
}

function requireFitting(wanted: WantedContent, kind: Template['kind']): void {
  const { layout, locales } = wanted
  if (kind !== 'message' && layout !== null) throw fault('layout', `must be null for a ${kind}`)
  const variants = Object.entries(locales)
  if (variants.length > MAX_LOCALES) throw fault('locales', `must have at most ${MAX_LOCALES} languages`)
  requireShort(Object.values(locales))
  for (const [at, texts] of [['', wanted], ...variants.map(([tag, texts]) => [`locales.${tag}.`, texts])] as [
    string,
    SourceTexts,
  ][]) {
    requireBody(texts, at)
    requireMjmlFitting(texts, at, { kind, layout })
    if (kind !== 'message' && texts.subject !== null) throw fault(`${at}subject`, `must be null for a ${kind}`)
  }
}

function requireShort(variants: SourceTexts[]): void {
  if (variants.reduce((sum, texts) => sum + lengthOf(texts), 0) > MAX_LOCALE_CHARACTERS) {
    throw fault('locales', `must have at most ${MAX_LOCALE_CHARACTERS} characters, with the html of MJML`)
  }
}

function requireBody({ html, mjml = null, text }: TemplateTexts & { mjml?: string | null }, at: string): void {
  if (html === null && mjml === null && text === null) {
    throw invalid([{ field: `${at}html`, message: 'Provide html, MJML or text.' }])
  }
}

/** The html of MJML is a whole document, which cannot be inside another. */
function requireMjmlFitting(
  { mjml }: SourceTexts,
  at: string,
  { kind, layout }: { kind: Template['kind']; layout: string | null },
): void {
  if (mjml === null) return
  if (kind === 'partial') throw fault(`${at}mjml`, 'must be null for a partial')
  if (layout !== null) throw fault(`${at}mjml`, 'must be null with a layout. The layout can have mjml')
}

function fault(field: string, predicate: string): Refusal {
  return invalid([{ field, message: `${field} ${predicate}` }])
}

/** A part that a message could not use is a fault of the template that names it. */
function asInvalid(error: unknown, layout: string | null): unknown {
  if (!(error instanceof Refusal) || error.reason !== 'template_error') return error
  const field = error.details?.alias === layout ? 'layout' : 'html'
  return invalid([{ field, message: `${field} cannot be used: ${error.message.replace(NOT_RENDERED, '')}` }])
}
