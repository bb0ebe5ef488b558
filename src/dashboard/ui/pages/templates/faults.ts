import { ApiError } from '../../kit/api.ts'

/** What is wrong with one text of a template; lines and columns count from 1, null for the whole. */
export interface TextFault {
  line: number | null
  column: number | null
  message: string
}

export type TextName = 'subject' | 'html' | 'text'

/** A refusal → what is wrong with which text, and what belongs to none. The API tells the place of the first fault in
 *  `details`, and of each in its words. */
export function faultsOf(thrown: unknown): { texts: Partial<Record<TextName, TextFault>>; other: string } {
  if (!(thrown instanceof ApiError)) return { texts: {}, other: String(thrown) }
  const { code, fields, details, message } = thrown
  const texts: Partial<Record<TextName, TextFault>> = {}
  for (const name of ['subject', 'html', 'text'] as const) {
    const told = fields[name]
    if (told !== undefined) texts[name] = placed(told)
  }
  if (code === 'template_error' && isTextName(details.field)) {
    const { field, line = null, column = null } = details
    texts[field] = { line, column, message }
  }
  return { texts, other: Object.keys(texts).length === 0 ? message : '' }
}

function placed(told: string): TextFault {
  const [, line, column, message] = /^\w+ is no good template in line (\d+), column (\d+): (.*)$/s.exec(told) ?? []
  if (message === undefined) return { line: null, column: null, message: told }
  return { line: Number(line), column: Number(column), message }
}

const isTextName = (field: unknown): field is TextName => field === 'subject' || field === 'html' || field === 'text'
