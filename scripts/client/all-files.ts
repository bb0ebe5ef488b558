import { clientFiles } from './files.ts'
import { phpFiles } from './php.ts'
import { pythonFiles } from './python.ts'

/** OpenAPI document → the generated files of the clients in every language, by their path in src/client. */
// biome-ignore lint/suspicious/noExplicitAny: JSON
export function allClientFiles(document: any): Record<string, string> {
  return { ...clientFiles(document), ...pythonFiles(document), ...phpFiles(document) }
}
