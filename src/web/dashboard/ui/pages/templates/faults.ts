import { ApiError } from '../../kit/api.ts'

/** An error in one text of a template. Line and column start at 1; null if the position is unknown. */
export interface TextFault {
  line: number | null
  column: number | null
  message: string
}

export type TextName = 'subject' | 'html' | 'mjml' | 'text'

/** API error → errors of the texts in a language ('' is the default), and the message of any other error ('' if
 *  there are only errors of texts). The API gives the position of the first error in `details`, and of each error in its
 *  message. */
export function faultsOf(thrown: unknown, locale = ''): { texts: Partial<Record<TextName, TextFault>>; other: string } {
  if (!(thrown instanceof ApiError)) return { texts: {}, other: String(thrown) }
  const { code, fields, details, message } = thrown
  const texts: Partial<Record<TextName, TextFault>> = {}
  for (const name of ['subject', 'html', 'mjml', 'text'] as const) {
    const text = fields[locale === '' ? name : `locales.${locale}.${name}`]
    if (text !== undefined) texts[name] = placed(text)
  }
  if (code === 'template_error' && isTextName(details.field)) {
    const { field, line = null, column = null } = details
    texts[field] = { line, column, message }
  }
  return { texts, other: Object.keys(texts).length === 0 ? message : '' }
}

/** API error → the languages with an error in a text; '' is the default. */
export function wrongLocalesOf(thrown: unknown): string[] {
  if (!(thrown instanceof ApiError)) return []
  const found = Object.keys(thrown.fields).flatMap((name) => {
    if (isTextName(name)) return ['']
    const [, locale] = /^locales\.([\w-]+)\./.exec(name) ?? []
    return locale === undefined ? [] : [locale]
  })
  return [...new Set(found)]
}

function placed(text: string): TextFault {
  const [, line, column, message] = /^[^:]* line (\d+)(?:, column (\d+))?: (.*)$/s.exec(text) ?? []
  if (message === undefined) return { line: null, column: null, message: text }
  return { line: Number(line), column: column === undefined ? null : Number(column), message }
}

const isTextName = (field: unknown): field is TextName =>
  field === 'subject' || field === 'html' || field === 'mjml' || field === 'text'
