import type { Operation, Parameter } from './document.ts'
import { pathOf } from './examples/request.ts'

/** What the form of an operation contains. Nothing of it comes from the link of the page. */
export interface Filled {
  /** Values of path and query parameters by name; '' = left out. */
  values: Readonly<Record<string, string>>
  /** JSON; '' = none. */
  body: string
  key: string
}

/** The request to send, or what is wrong by name of the field (`body` for the body). */
export type Built =
  | { request: { path: string; method: string; headers: Record<string, string>; body?: string }; faults: null }
  | { request: null; faults: Record<string, string> }

/** The parameters that the form asks for. One with a schema of an object has a name of the caller's choice. */
export function fieldsOf({ parameters }: Operation): Parameter[] {
  return parameters.filter((each) => each.in !== 'header' && each.schema.type !== 'object')
}

/** Operation and what was filled in → Built. The path always begins with that of the operation. */
export function requestOf(operation: Operation, { values, body, key }: Filled): Built {
  const faults: Record<string, string> = {}
  const fields = fieldsOf(operation)
  for (const { name, in: part, required } of fields) {
    const value = values[name] ?? ''
    if (required && value === '') faults[name] = `Fill in ${name}.`
    // A browser would shorten such a path to that of another operation.
    if (part === 'path' && (value === '.' || value === '..')) faults[name] = `${name} cannot be ${value}`
  }
  const text = body.trim()
  const wrong = faultInJson(text)
  if (operation.body === null || text === '' ? operation.body?.isRequired : wrong !== null) {
    faults.body = wrong ?? 'Fill in the body.'
  }
  if (Object.keys(faults).length > 0) return { request: null, faults }

  const query = new URLSearchParams(
    fields.flatMap(({ name, in: part }) => (part === 'query' && values[name] ? [[name, values[name]]] : [])),
  ).toString()
  const hasBody = operation.body !== null && text !== ''
  return {
    request: {
      path: pathOf(operation.path, (name) => values[name] ?? '') + (query === '' ? '' : `?${query}`),
      method: operation.method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
      },
      ...(hasBody ? { body: text } : {}),
    },
    faults: null,
  }
}

/** Null for JSON and for ''. */
function faultInJson(text: string): string | null {
  if (text === '') return null
  try {
    JSON.parse(text)
    return null
  } catch (thrown) {
    return `The body is not valid JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`
  }
}
