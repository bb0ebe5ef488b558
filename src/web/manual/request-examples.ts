import type { Token, Tokens } from 'marked'
import { exampleIn, type Language } from '../examples/languages.ts'
import type { Operation, Reference } from '../reference/ui/document.ts'
import { exampleOf } from '../reference/ui/examples/request.ts'

/** A block of code, possibly the same in several languages. */
export type CodeInLanguages = Pick<Tokens.Code, 'text' | 'lang'> & {
  languages?: readonly (readonly [language: Language, code: string])[]
}

/** A request in the manual: the body of an operation, whose examples are written as those of the API reference. */
export const REQUEST = /^<!-- request: (\w+) -->$/

/** Languages of requests in the manual, with their names in Markdown. */
const SHOWN = [
  ['curl', 'sh'],
  ['typescript', 'ts'],
  ['python', 'py'],
  ['php', 'php'],
] as const
const SETTING = { origin: 'https://mail.example.com', key: null }

/** The place of the documented answer of an operation. */
const ANSWER = /^<!-- answer: (\w+) -->$/

/** Tokens of a page → the same, in which each JSON block after `<!-- request: messages_send -->` is a request in several
 *  languages, and `<!-- answer: messages_send -->` the example of its answer. The terminal shows curl, and Markdown has
 *  all languages. Throws for an operation that does not exist. */
export function withLanguages(tokens: Token[], reference: Reference | null): Token[] {
  if (reference === null) return tokens
  return tokens.map((token, at) => {
    const [, answered] = ANSWER.exec(token.raw.trim()) ?? []
    if (answered !== undefined) return answerOf(operationOf(answered, reference))
    const [, requested] = REQUEST.exec((tokens[at - 1]?.raw ?? '').trim()) ?? []
    if (requested === undefined || token.type !== 'code') return token
    return requestOf(operationOf(requested, reference), JSON.parse(token.text))
  })
}

function operationOf(id: string, reference: Reference): Operation {
  const operation = reference.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`the manual shows ${id}, which does not exist`)
  return operation
}

function requestOf(operation: Operation, body: unknown): Token {
  const request = exampleOf(operation, {}, body)
  const languages = SHOWN.map(([language]) => [language, exampleIn(language, request, SETTING)] as const)
  const fences = SHOWN.map(([, name], at) => fenceOf(name, languages[at]![1]))
  return { type: 'code', lang: 'sh', text: languages[0]![1], languages, raw: `${fences.join('\n\n')}\n\n` }
}

function answerOf({ id, responses }: Operation): Token {
  const example = responses[0]?.[1].content?.['application/json']?.example
  if (example === undefined) throw new Error(`${id} has no example of its answer`)
  const text = JSON.stringify(example, null, 2)
  return { type: 'code', lang: 'json', text, raw: `${fenceOf('json', text)}\n\n` }
}

const fenceOf = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``
