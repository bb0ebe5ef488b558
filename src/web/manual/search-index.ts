import type { Operation, Reference, Schema } from '../reference/ui/document.ts'
import { GENERATED } from './contents.ts'
import type { ManualPage } from './markdown.ts'

/** One entry of the search index: address, title of its page, heading, text, and whether it is a row of a reference,
 *  which comes after prose. */
export type SearchEntry = [path: string, page: string, heading: string, words: string, isReference: boolean]

/** The sections of all pages and the operations of the API, for the search of both. */
export function searchIndex(pages: ReadonlyMap<string, ManualPage>, reference: Reference): SearchEntry[] {
  const sections = [...pages.values()].flatMap(({ topic, title, sections }) =>
    sections.map(({ anchor, heading, words }): SearchEntry => {
      const path = `/manual/${topic}${anchor === '' ? '' : `#${anchor}`}`
      return [path, title, heading, words, GENERATED.includes(topic)]
    }),
  )
  const operations = reference.operations.map((operation): SearchEntry => {
    const { id, tag, summary } = operation
    return [`/docs#${id}`, `API reference: ${tag}`, summary, textOf(operation, reference), true]
  })
  // The table of operations says the same with fewer words.
  return [...sections.filter(([path]) => !path.startsWith('/manual/api-operations#')), ...operations]
}

function textOf(operation: Operation, reference: Reference): string {
  const { method, path, description, parameters, body } = operation
  const fields = body === null ? [] : fieldsOf(body.schema, reference)
  return [description, method, path, ...parameters.map(({ name }) => name), ...new Set(fields)].join(' ')
}

function fieldsOf(schema: Schema, { resolve }: Reference): string[] {
  const { properties, anyOf = [], oneOf = [], allOf = [], items } = resolve(schema)
  const others = [...anyOf, ...oneOf, ...allOf, ...(items === undefined ? [] : [items])]
  return [...Object.keys(properties ?? {}), ...others.flatMap((each) => Object.keys(resolve(each).properties ?? {}))]
}
