import { pascal } from './files.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON
type Json = any

/** OpenAPI document → every error code with its meaning: those of the API from its responses, and those of a client. */
export function errorTexts(document: Json): Record<string, string> {
  const { schemas, responses } = document.components
  const codes: string[] = schemas.Error.properties.error.properties.code.enum
  const texts = Object.values<Json>(responses).flatMap(({ description }) => description.split('\n\n'))
  const textOf = (code: string) =>
    texts.find((text) => text.startsWith(`\`${code}\`: `))?.slice(code.length + 4) ?? `The code \`${code}\`.`
  return { ...Object.fromEntries(codes.map((code) => [code, textOf(code)])), ...OF_CLIENT }
}

/** Failures without a response of the API. */
const OF_CLIENT = {
  connection_failed:
    'The connection failed before the response was complete. The server may have processed the request.',
  timed_out: 'The timeout elapsed. The server may have processed the request.',
  unexpected_answer:
    'The response is not one of the Postrider API, for example the error page of a proxy or a redirect.',
}

/** Error code → class: `validation_error` → ValidationError, `not_found` → NotFoundError. */
export const errorName = (code: string) => `${pascal(code.replace(/_error$/, ''))}Error`
